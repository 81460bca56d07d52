// private.h: who may read what we write: new files and folders are for their owner alone.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace amdahl::os {

// As write_file(), for what a person named and others may be meant to read (a page, an export): a
// new file is as readable as the umask allows.
Result<> write_shared(const std::string& path, std::string_view bytes);

// As write_file(), for a changed copy of `source`: readable by whom the source is, by no one else.
Result<> write_like(const std::string& source, const std::string& path, std::string_view bytes);

// Makes the file, empty, for its owner alone, unless it is there.
Result<> make_private_file(const std::string& path);

// Whether the group or others may read, write or enter it. False if it is not there.
bool is_open_to_others(const std::string& path);

// Takes what the group and others may do with it away; ok if it is not there or not ours.
Result<> close_to_others(const std::string& path);

}  // namespace amdahl::os
