// outputs.h: checks output paths before the work begins.
#pragma once

#include "base/result.h"
#include "cli/options.h"

namespace amdahl::cli {

// --html and --output can be written safely: not a file that the verb reads, not the same as
// stdout's target, and the folder of --html exists.
Result<> check_outputs(std::string_view verb, const Flags& flags);

// Writes the page of --html and names it on stderr.
Result<> write_page(const Flags& flags, std::string_view page);

}  // namespace amdahl::cli
