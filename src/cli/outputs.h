// outputs.h: where results may go, checked before the work begins.
#pragma once

#include "base/result.h"
#include "cli/options.h"

namespace amdahl::cli {

// What --html and --output name can be written without harm: it is no file that the verb is to
// read, not where the text goes, and --html's folder exists.
Result<> check_outputs(std::string_view verb, const Flags& flags);

}  // namespace amdahl::cli
