// left.h: reads files that a job may have left or put in the place of ours.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace amdahl::os {

// Whether it is a regular file itself: no link to one, no pipe.
bool is_plain(const std::string& path);

// The whole file. Only a plain one, as a pipe would block the reader and a link may lead to what
// the job itself must not read; and only up to this size. kNotFound if it does not exist.
inline constexpr std::size_t kMostLeft = std::size_t{1} << 30;
Result<std::string> read_left(const std::string& path, std::size_t most = kMostLeft);

}  // namespace amdahl::os
