// patch.h: edits of a text as a unified diff that `git apply` takes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::code {

// The bytes from `begin` to before `end` become `text`.
struct Edit {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::string text;
};

// `bytes` with all edits made. They may not overlap; any order.
std::string edited(std::string_view bytes, std::vector<Edit> edits);

// The same as a diff with three lines of context. Empty if nothing changes, or where the path
// cannot stand in a diff: absolute, with "..", with control characters, quotes or a backslash.
std::string unified_diff(std::string_view path, std::string_view bytes,
                         const std::vector<Edit>& edits);

}  // namespace amdahl::code
