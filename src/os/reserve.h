// reserve.h: space on a disk for files that must be written even if the disk is full by then.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace amdahl::os {

// Takes so many bytes of the disk, in a file at `space`.
Result<> take_space(const std::string& space, std::size_t bytes);
// Like write_file(), in the space that was taken on the same disk. Takes more if that is not
// enough, or if there is none.
Result<> write_in_space(const std::string& space, const std::string& path, std::string_view bytes);
// Gives back what was not used.
void free_space(const std::string& space);

// Whether the disk of this path has hardly a block left.
bool is_disk_full(const std::string& path);

}  // namespace amdahl::os
