// table.h: text tables and paragraphs for terminals.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace amdahl {

using TableRow = std::vector<std::string>;

// The header line, then one line per row. Columns are as wide as their widest cell (colour codes
// have no width), two spaces apart. Numeric columns are right-aligned; placeholders ("–", "no
// limit", "unknown") do not change that. No trailing spaces. Every row must have as many cells as
// the header.
std::vector<std::string> table_lines(const TableRow& header, const std::vector<TableRow>& rows);
std::string table(const TableRow& header, const std::vector<TableRow>& rows);  // With newlines.

// Wraps `text` to at most `width` columns. A longer word is kept whole: it may be a path to copy.
// A "%" stays with its number. The first line is indented by `indent`, the others by `indent` +
// `hanging`; the indent counts towards the width.
std::vector<std::string> wrap_lines(std::string_view text, std::size_t width,
                                    std::size_t indent = 0, std::size_t hanging = 0);

}  // namespace amdahl
