// files.h: reads and writes whole files; writes are atomic.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace amdahl::os {

Result<std::string> read_file(const std::string& path);  // kNotFound if it does not exist.
// At most the first (last) `bytes` of the file.
Result<std::string> read_head(const std::string& path, std::size_t bytes);
Result<std::string> read_tail(const std::string& path, std::size_t bytes);
// Writes a temporary file, syncs and renames it: readers see the old content or the new. On
// failure (disk full) the temporary file is removed. Follows symbolic links; writes directly to
// pipes and devices.
Result<> write_file(const std::string& path, std::string_view bytes);
Result<> make_dirs(const std::string& path);
bool exists(const std::string& path);
// Names in the folder, sorted; empty if it does not exist.
std::vector<std::string> list(const std::string& folder);
Result<std::string> sha256_of_file(const std::string& path);  // Reads in chunks.
// Paths that match a glob, sorted; a path without wildcards matches itself if it exists.
std::vector<std::string> glob(const std::string& pattern);
std::string absolute(const std::string& path);
// kNotFound if it was deleted.
Result<std::string> working_folder();

}  // namespace amdahl::os
