// html.h: what all pages that we write have in common: head, style, text and tables.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl {

// `text` as it stands between tags and in attributes. Control characters, and bytes that are no
// UTF-8, become "?".
std::string escape_html(std::string_view text);

// Everything before the first heading: the style of all pages, then what this one adds to it.
// `title` is escaped here.
std::string html_head(std::string_view title, std::string_view more_style);
inline constexpr std::string_view kHtmlEnd = "</body>\n</html>\n";

struct HtmlColumn {
  std::string_view name;
  bool words = false;         // Left-aligned.
  std::string_view sorted{};  // "descending" if the rows are sorted by it.
};

struct HtmlCell {
  HtmlCell(std::string inside) : html{std::move(inside)} {}  // NOLINT: a cell is mostly its HTML.
  HtmlCell(const char* inside) : html{inside} {}             // NOLINT
  HtmlCell(std::string inside, std::string value) : html{std::move(inside)}, by{std::move(value)} {}

  std::string html;
  std::string by;     // What scripts sort by, not escaped yet; empty: its text.
  std::string title;  // Shown when pointed at, likewise.
};

// In a frame of its own that scrolls where the screen is narrow.
class HtmlTable {
 public:
  // The columns must outlive it.
  explicit HtmlTable(std::span<const HtmlColumn> columns, std::string_view id = "");
  // In a row with fewer cells than there are columns the last cell spans the rest.
  void row(const std::vector<HtmlCell>& cells);
  std::string take();

 private:
  std::span<const HtmlColumn> columns_;
  std::string out_;
};

}  // namespace amdahl
