// ticks.h: assigns rows of nvidia-smi without an index to GPUs by their order in each round.
#pragma once

#include <optional>
#include <span>

#include "base/units.h"

namespace amdahl::fleet::nvidia_smi {

// With -l nvidia-smi prints one row per GPU, some milliseconds apart, then waits.
struct Ticks {
  int gpus = 1;
  Nanos apart{};  // A larger distance starts a new round.
};

// From the times of the first rows. Nothing if they do not show rounds of equal size.
std::optional<Ticks> ticks_of(std::span<const Nanos> times);

}  // namespace amdahl::fleet::nvidia_smi
