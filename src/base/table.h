// table.h: tables and paragraphs of text for terminals.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace amdahl {

using TableRow = std::vector<std::string>;

// The header's line, then a line for each row. Columns are as wide as their widest cell (colour
// codes take no room) and two spaces apart. A column of numbers is aligned right; cells that stand
// for a number that is not known ("–", "no limit", "unknown") do not change that. No line ends with
// spaces. Every row must have as many cells as the header.
std::vector<std::string> table_lines(const TableRow& header, const std::vector<TableRow>& rows);
std::string table(const TableRow& header, const std::vector<TableRow>& rows);  // With line ends.

// The words of `text` in lines of at most `width` columns. A longer word is left whole: it may be a
// path to be typed. A "%" stays on the line of its number. The first line begins with `indent`
// spaces, the others with `indent` + `hanging`; they count.
std::vector<std::string> wrap_lines(std::string_view text, std::size_t width,
                                    std::size_t indent = 0, std::size_t hanging = 0);

}  // namespace amdahl
