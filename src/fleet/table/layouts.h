// layouts.h: CSV layouts known by their columns, with their mappings.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace amdahl::fleet::table {

struct Layout {
  std::string_view name;  // "ClusterCockpit job export".
  // Required columns, separated by commas; for shapes, one letter per cell: h hexadecimal digits,
  // w a word, n a number or empty, s a state.
  std::string_view columns;
  bool only;                 // No other columns allowed.
  std::string_view mapping;  // TOML.
};

std::span<const Layout> layouts();
std::span<const Layout> shapes();  // Without a header.

// The layout with this header, or null.
const Layout* layout_of(const std::vector<std::string_view>& header);
// The layout of a file without a header, by the form of its first line, or null.
const Layout* shape_of(const std::vector<std::string_view>& cells);

}  // namespace amdahl::fleet::table
