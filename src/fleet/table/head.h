// head.h: the first lines of a table, split into cells: enough to recognise it.
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
  bool has_comments = false;        // '#' lines precede it.
  std::vector<std::string> header;  // "1", "2", ... if there is none.
  // The first kHeadRows, with as many cells as the header.
  std::vector<std::vector<std::string>> rows;
  std::size_t odd_rows = 0;  // Number of first rows with another length.
};

// Nothing if the bytes are not a table of at least two columns.
std::optional<Head> head_of(std::string_view bytes);

// Whether a line is a separator, as in databases and Markdown: "+-----+-----+".
bool is_ruler(std::string_view line);

// Whether a first line is Excel's delimiter hint: "sep=,".
bool is_hint_for_excel(std::string_view line);

// The most frequent delimiter of a line: , tab ; or |.
char delimiter_in(std::string_view line);

// The part of a table by which it is recognised: the first 4 KiB in whole lines, or its first two
// lines if longer. Nothing if more bytes are needed; `is_all`: there are no more. Independent of
// chunk sizes and of growth.
std::optional<std::string_view> telling_part(std::string_view bytes, bool is_all);

}  // namespace amdahl::fleet::table
