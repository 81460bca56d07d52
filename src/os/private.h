// private.h: file permissions: what we write is readable by its owner only, unless asked otherwise.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace amdahl::os {

// Like write_file(), for output that a user named (a page, an export): a new file gets the
// permissions of the umask.
Result<> write_shared(const std::string& path, std::string_view bytes);

// Like write_file(), for an edited copy of `source`: copies the permissions of `source`.
Result<> write_like(const std::string& source, const std::string& path, std::string_view bytes);

// Creates an empty file readable by its owner only, unless it exists.
Result<> make_private_file(const std::string& path);

// Whether group or others have any permission on it. False if it does not exist.
bool is_open_to_others(const std::string& path);

// Removes all permissions of group and others. Ok if it does not exist or is not ours.
Result<> close_to_others(const std::string& path);

}  // namespace amdahl::os
