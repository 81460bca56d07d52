// table.h: reads tables: lines of cells (CSV and similar), or JSON objects with keys as columns.
// A row is read by a given mapping, a known layout, or a guess from names and values. Long tables
// of samples have their own fast parser.
#pragma once

#include <memory>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::table {

// The first bytes are the header of one of layouts(), or lines like one of shapes().
bool claims_layout(std::string_view head);

// A header with a time, a host, a device, and a utilisation metric:
// "timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL". Separated by commas, semicolons, tabs or bars.
// Not if the first rows have times other than ISO 8601 and Unix time, or the metric in another
// unit than its own.
bool claims_long(std::string_view head);

bool claims_objects(std::string_view head);  // Never claims: any program may write such.

// For tables that no source claims: whether their columns are sufficient. The error proposes a
// mapping to complete; false: not a table.
Result<bool> guesses_lines(std::string_view head, const ReaderOptions& options);
Result<bool> guesses_objects(std::string_view head, const ReaderOptions& options);

// Whether the table has every column of the mapping and, without a header, a time where one is
// expected. Any text except JSON may be a table of lines.
Fit fit_lines(std::string_view head, std::string_view mapping);
Fit fit_objects(std::string_view head, std::string_view mapping);

// What was recognised, which columns mean what and why, and which are unused.
Explained explain_lines(std::string_view head, const ReaderOptions& options);
Explained explain_long(std::string_view head, const ReaderOptions& options);
Explained explain_objects(std::string_view head, const ReaderOptions& options);

// With ReaderOptions::mapping any table; without, those of layouts() and those that can be
// guessed.
std::unique_ptr<Reader> make_lines(Intake& intake, const ReaderOptions& options);
// A long table. With several threads, all but one parse blocks of lines.
std::unique_ptr<Reader> make_long(Intake& intake, const ReaderOptions& options);
// The same with guessed columns (long_columns.h); the first line is the header.
struct LongColumns;
std::unique_ptr<Reader> make_long_by(Intake& intake, const ReaderOptions& options,
                                     const LongColumns& columns);
// Lists of JSON objects, or one object per line. Nested objects become dotted keys ("time.start"),
// lists of texts are joined by commas. Keys that are in none of the first objects (within 16 KiB)
// are ignored.
std::unique_ptr<Reader> make_objects(Intake& intake, const ReaderOptions& options);

}  // namespace amdahl::fleet::table
