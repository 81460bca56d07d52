// table.h: reads tables: lines of cells (CSV and the like), or JSON objects whose keys are the
// columns. A row is read by a mapping that was given, by a known layout, or by what the columns are
// called and hold; long tables of samples by a parser of their own, for speed.
#pragma once

#include <memory>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::table {

// The first bytes are the header of one of layouts(), or lines as one of shapes().
bool claims_layout(std::string_view head);

// A header with a time, a host, a device, and a metric that says how busy the device is:
// "timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL". Commas, semicolons, tabs or bars. Not if its first
// rows have other times than ISO 8601 and Unix time, or the metric in another unit than its own.
bool claims_long(std::string_view head);

bool claims_objects(std::string_view head);  // Nothing: any program may write such.

// For tables that no source claims: whether their columns say all that is needed. An error proposes
// a mapping to complete; false: this is no table.
Result<bool> guesses_lines(std::string_view head, const ReaderOptions& options);
Result<bool> guesses_objects(std::string_view head, const ReaderOptions& options);

// Whether the table that begins so has every column that the mapping wants, and without a header a
// time where it wants one. Any text may be a table of lines, but JSON.
Fit fit_lines(std::string_view head, std::string_view mapping);
Fit fit_objects(std::string_view head, std::string_view mapping);

// What was recognised, which columns mean what and why, and which are not used.
Explained explain_lines(std::string_view head, const ReaderOptions& options);
Explained explain_long(std::string_view head, const ReaderOptions& options);
Explained explain_objects(std::string_view head, const ReaderOptions& options);

// With ReaderOptions::mapping any table; without, those of layouts() and those that can be guessed.
std::unique_ptr<Reader> make_lines(Intake& intake, const ReaderOptions& options);
// A long table. With several threads, blocks of lines are parsed in all but one of them.
std::unique_ptr<Reader> make_long(Intake& intake, const ReaderOptions& options);
// The same by columns that were guessed (long_columns.h); the first line is the header.
struct LongColumns;
std::unique_ptr<Reader> make_long_by(Intake& intake, const ReaderOptions& options,
                                     const LongColumns& columns);
// Lists of JSON objects, or an object a line. Objects within objects are keys with a point
// ("time.start"), lists of texts are joined by commas. Keys that none of the first objects has
// (within 16 KiB) are not used.
std::unique_ptr<Reader> make_objects(Intake& intake, const ReaderOptions& options);

}  // namespace amdahl::fleet::table
