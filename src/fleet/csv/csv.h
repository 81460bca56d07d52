// csv.h: reads CSV and TSV files by a mapping, or by their columns if those are well known.
#pragma once

#include <memory>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::csv {

bool claims(std::string_view head);  // The header of one of layouts().

// With ReaderOptions::mapping any table; without, those of layouts().
std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

}  // namespace amdahl::fleet::csv
