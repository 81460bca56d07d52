// layouts.h: CSV files that are known by their columns, each with the mapping that reads it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace amdahl::fleet::csv {

struct Layout {
  std::string_view name;     // "ClusterCockpit job export".
  std::string_view columns;  // That the header must have, between commas.
  bool only;                 // And no others.
  std::string_view mapping;  // TOML.
};

std::span<const Layout> layouts();

// The layout of a file with this header; null if there is none.
const Layout* layout_of(const std::vector<std::string_view>& header);

}  // namespace amdahl::fleet::csv
