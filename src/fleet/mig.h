// mig.h: the share of an accelerator that a MIG profile names.
#pragma once

#include <string_view>

namespace amdahl::fleet {

// "1g.10gb", "3g.20gb+me", "a100_2g.10gb": that many sevenths of the device (quarters on devices
// with four slices). 0 if the text names no profile. `model` may help: "NVIDIA A30".
double mig_share(std::string_view text, std::string_view model = {});

}  // namespace amdahl::fleet
