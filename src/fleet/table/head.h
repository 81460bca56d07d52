// head.h: the first lines of a table, cut into cells: enough to tell what it is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::fleet::table {

inline constexpr std::size_t kHeadRows = 64;

struct Head {
  char delimiter = ',';
  bool has_header = true;
  bool has_comments = false;                   // Lines with '#' stand before it.
  std::vector<std::string> header;             // "1", "2", ... where there is none.
  std::vector<std::vector<std::string>> rows;  // The first kHeadRows, as long as the header.
  std::size_t odd_rows = 0;                    // Of the first few: that are not.
};

// Nothing if these bytes are no table of two columns or more.
std::optional<Head> head_of(std::string_view bytes);

// Whether a line only parts others, as databases and Markdown draw tables: "+-----+-----+".
bool is_ruler(std::string_view line);

// Whether a first line only tells Excel the delimiter: "sep=,".
bool is_hint_for_excel(std::string_view line);

// The delimiter that a line has most of: , tab ; or |.
char delimiter_in(std::string_view line);

// The part of a table's beginning that it is judged by: the first 4 KiB in whole lines, or its
// first two lines if these are longer. Nothing if more bytes are needed; `is_all`: there are no
// more. The same part whatever pieces an input comes in, and however it grows.
std::optional<std::string_view> telling_part(std::string_view bytes, bool is_all);

}  // namespace amdahl::fleet::table
