#include "profile/html_parts.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace amdahl::profile {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '"') {
      result += "&quot;";
    } else {
      result += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return result;
}

std::string times_of(double factor) {
  if (std::isinf(factor)) return "no limit";
  return factor < 100 ? fmt::format("{:.2f}×", factor) : "over 100×";
}

Table::Table(std::span<const Column> columns) : columns_{columns} {
  out_ = "<div class=\"scroll\"><table>\n<tr>";
  for (const Column& column : columns_) {
    out_ += fmt::format("<th{}>{}</th>", column.words ? " class=\"words\"" : "", column.name);
  }
  out_ += "</tr>\n";
}

void Table::row(const std::vector<std::string>& cells) {
  out_ += "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    out_ += fmt::format("<td{}>{}</td>", columns_[i].words ? " class=\"words\"" : "", cells[i]);
  }
  out_ += "</tr>\n";
}

std::string Table::take() { return std::move(out_) + "</table></div>\n"; }

}  // namespace amdahl::profile
