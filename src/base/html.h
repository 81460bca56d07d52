// html.h: common parts of all HTML pages: head, style, text and tables.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl {

// Escaped for text and attributes. Control characters and invalid UTF-8 become "?".
std::string escape_html(std::string_view text);

// Everything before the first heading: the common style, then `more_style`. Escapes `title`. A
// policy lets a browser apply this one style and run `script`, by their digests, and nothing else:
// no other script, no style attribute, nothing loaded.
std::string html_head(std::string_view title, std::string_view more_style,
                      std::string_view script = "");
// The element of that script.
std::string html_script(std::string_view script);
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
  std::string by;     // Sort key for scripts, not escaped; empty: its text.
  std::string title;  // Tooltip, not escaped.
};

// In a container that scrolls on narrow screens.
class HtmlTable {
 public:
  // The columns must outlive it.
  explicit HtmlTable(std::span<const HtmlColumn> columns, std::string_view id = "");
  // If a row has fewer cells than columns, the last cell spans the rest.
  void row(const std::vector<HtmlCell>& cells);
  std::string take();

 private:
  std::span<const HtmlColumn> columns_;
  std::string out_;
};

}  // namespace amdahl
