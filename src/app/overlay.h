// overlay.h: the promoted changes of a family as files beside the ledger.
#pragma once

#include <string>

#include "app/context.h"
#include "base/result.h"

namespace amdahl::app {

// overlays/FAMILY.toml holds the family's stack, overlays/FAMILY/NN-ID.patch its patches, and
// nothing else: what was rolled back is removed. Made from the ledger alone, so that a crash, or
// another process that decides at the same time, is mended by the next call. Returns the path of
// the overlay; a family that never had a promoted change has none.
Result<std::string> write_overlay(Context& context, const std::string& family);

}  // namespace amdahl::app
