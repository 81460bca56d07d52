// layouts.h: CSV files that are known by their columns, each with the mapping that reads it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace amdahl::fleet::table {

struct Layout {
  std::string_view name;  // "ClusterCockpit job export".
  // That the header must have, between commas; of shapes a letter a cell: h hexadecimal digits, w a
  // word, n a number or nothing, s a state.
  std::string_view columns;
  bool only;                 // And no others.
  std::string_view mapping;  // TOML.
};

std::span<const Layout> layouts();
std::span<const Layout> shapes();  // Without a header.

// The layout of a file with this header; null if there is none.
const Layout* layout_of(const std::vector<std::string_view>& header);
// The layout of a file without a header, by the form of its first line; null if there is none.
const Layout* shape_of(const std::vector<std::string_view>& cells);

}  // namespace amdahl::fleet::table
