// patch.h: edits of a text as a unified diff for `git apply`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::code {

// Replaces the bytes [begin, end) by `text`.
struct Edit {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::string text;
};

// `bytes` after all edits. They must not overlap; any order.
std::string edited(std::string_view bytes, std::vector<Edit> edits);

// The edits as a diff with three lines of context. Empty if nothing changes, or if the path cannot
// be used in a diff: absolute, or with "..", control characters, quotes or a backslash.
std::string unified_diff(std::string_view path, std::string_view bytes,
                         const std::vector<Edit>& edits);

}  // namespace amdahl::code
