// files.h: whole files in and out; nothing is ever half-written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace amdahl::os {

Result<std::string> read_file(const std::string& path);  // kNotFound if there is none.
// At most the first, or the last, `bytes` of it.
Result<std::string> read_head(const std::string& path, std::size_t bytes);
Result<std::string> read_tail(const std::string& path, std::size_t bytes);
// Written beside, synced, renamed: a reader sees the old file or the new one. When it fails (a full
// disk) nothing is left beside. A link stays one; what is no file (a pipe, a device) is written to.
Result<> write_file(const std::string& path, std::string_view bytes);
Result<> make_dirs(const std::string& path);
bool exists(const std::string& path);
// Names in the folder, sorted; empty if there is no such folder.
std::vector<std::string> list(const std::string& folder);
Result<std::string> sha256_of_file(const std::string& path);  // Streams.
// Paths that match a glob, sorted; a path without wildcards matches itself if it exists.
std::vector<std::string> glob(const std::string& pattern);
std::string absolute(const std::string& path);
// kNotFound if it was removed under us.
Result<std::string> working_folder();

}  // namespace amdahl::os
