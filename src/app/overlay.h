// overlay.h: a family's promoted changes as files next to the ledger.
#pragma once

#include <string>

#include "app/context.h"
#include "base/result.h"

namespace amdahl::app {

// overlays/FAMILY.toml has the family's stack, overlays/FAMILY.json all that a production run needs
// (app/production.h), overlays/FAMILY/NN-ID.patch its patches, and nothing else: what was rolled
// back is removed. Derived from the ledger alone, so that the next call repairs what a crash or a
// concurrent decision left. Returns the path of the overlay; a family without promotions has none.
Result<std::string> write_overlay(Context& context, const std::string& family);

}  // namespace amdahl::app
