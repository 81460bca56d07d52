// json_table.h: reads lists of JSON objects, and an object a line, as tables whose columns are
// keys.
#pragma once

#include <memory>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::json_table {

bool claims(std::string_view head);  // Nothing: any program may write such.
// Whether the keys of the first objects say all that is needed; an error says what they do not.
Result<bool> guesses(std::string_view head, const ReaderOptions& options);
Explained explain(std::string_view head, const ReaderOptions& options);
bool is_table(std::string_view head);  // Whether these bytes begin such a table at all.
Fit fit(std::string_view head, std::string_view mapping);

// Objects within objects are keys with a point ("time.start"), lists of texts are joined by commas.
// Keys that none of the first objects has (within 4 KiB) are not used.
std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

}  // namespace amdahl::fleet::json_table
