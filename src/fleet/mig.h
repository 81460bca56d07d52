// mig.h: how much of an accelerator a MIG slice is, by the name of its profile.
#pragma once

#include <string_view>

namespace amdahl::fleet {

// "1g.10gb", "3g.20gb+me", "a100_2g.10gb": that many sevenths of the device (quarters on those
// that are cut in four). 0 if the text names no profile. `model` may help: "NVIDIA A30".
double mig_share(std::string_view text, std::string_view model = {});

}  // namespace amdahl::fleet
