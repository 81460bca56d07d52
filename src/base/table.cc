#include "base/table.h"

#include <algorithm>
#include <array>

#include "base/screen.h"
#include "base/text.h"

namespace amdahl {
namespace {

// Columns on the screen, without colour codes.
std::size_t width_of(std::string_view text) {
  std::string shown;
  bool is_code = false;
  for (const char c : text) {
    if (c == '\x1b') is_code = true;
    if (!is_code) shown += c;
    if (c == 'm') is_code = false;
  }
  return columns_of(shown);
}

bool is_figure(std::string_view cell) {
  const std::size_t end = cell.find_first_not_of("0123456789");
  if (end != 0 && end != cell.npos && cell.substr(end).starts_with(". ")) return false;  // "1. x"
  return is_digit(cell.front()) || cell.front() == '-' || cell.front() == '+' ||
         cell.front() == '$' || cell.starts_with("< ") || cell.starts_with("over ");
}

bool is_unknown_figure(std::string_view cell) {
  constexpr auto kUnknown = std::to_array<std::string_view>(
      {"", "-", "–", "no limit", "no bound", "unknown", "void", "all of it", "unbounded"});
  return std::ranges::find(kUnknown, cell) != kUnknown.end();
}

bool is_of_figures(const std::vector<TableRow>& rows, std::size_t column) {
  bool any = false;
  for (const TableRow& row : rows) {
    if (is_unknown_figure(row[column])) continue;
    if (!is_figure(row[column])) return false;
    any = true;
  }
  return any;
}

}  // namespace

std::vector<std::string> table_lines(const TableRow& header, const std::vector<TableRow>& rows) {
  std::vector<std::string> lines(rows.size() + 1);
  for (std::size_t i = 0; i < header.size(); ++i) {
    const auto cell = [&](std::size_t line) -> const std::string& {
      return line == 0 ? header[i] : rows[line - 1][i];
    };
    std::size_t widest = 0;
    for (std::size_t n = 0; n < lines.size(); ++n) widest = std::max(widest, width_of(cell(n)));
    const bool right = is_of_figures(rows, i);
    for (std::size_t n = 0; n < lines.size(); ++n) {
      const std::string pad(widest - width_of(cell(n)), ' ');
      lines[n] += (i == 0 ? "" : "  ") + (right ? pad + cell(n) : cell(n) + pad);
    }
  }
  for (std::string& line : lines) line.erase(line.find_last_not_of(' ') + 1);
  return lines;
}

std::string table(const TableRow& header, const std::vector<TableRow>& rows) {
  return join(table_lines(header, rows), "\n") + "\n";
}

std::vector<std::string> wrap_lines(std::string_view text, std::size_t width, std::size_t indent,
                                    std::size_t hanging) {
  std::vector<std::string> lines{std::string(indent, ' ')};
  bool is_start = true;
  std::string word;
  const auto put = [&] {
    std::string& line = lines.back();
    if (!is_start && columns_of(line) + 1 + columns_of(word) > width) {
      lines.push_back(std::string(indent + hanging, ' ') + word);
    } else {
      line += (is_start ? "" : " ") + word;
    }
    is_start = false;
  };
  bool has_word = false;
  for (const std::string_view piece : split(text, ' ')) {
    if (has_word && piece.starts_with('%')) {
      word += " " + std::string(piece);
      continue;
    }
    if (has_word) put();
    word = piece;
    has_word = true;
  }
  put();
  return lines;
}

}  // namespace amdahl
