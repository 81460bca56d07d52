// csv.h: reads CSV and TSV files by a mapping, or by their columns.
#pragma once

#include <memory>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::csv {

// The header of one of layouts(), or lines as one of shapes().
bool claims(std::string_view head);

// Whether the table that begins so has every column that the mapping wants, and without a header a
// time where it wants one. Any text may be a table, but JSON.
Fit fit(std::string_view head, std::string_view mapping);
bool fits(std::string_view head, std::string_view mapping);

// For tables that no source claims: whether their columns say all that is needed. An error proposes
// a mapping to complete; false: this is no table.
Result<bool> guesses(std::string_view head, const ReaderOptions& options);

// What was recognised, which columns mean what and why, and which are not used.
Explained explain(std::string_view head, const ReaderOptions& options);

// With ReaderOptions::mapping any table; without, those of layouts() and those that can be guessed.
std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

}  // namespace amdahl::fleet::csv
