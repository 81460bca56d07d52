// ticks.h: which GPU a row of nvidia-smi is about if it does not say: they come in order, each
// time.
#pragma once

#include <optional>
#include <span>

#include "base/units.h"

namespace amdahl::fleet::nvidia_smi {

// With -l nvidia-smi prints a row for each GPU, some milliseconds apart, then waits.
struct Ticks {
  int gpus = 1;
  Nanos apart{};  // Rows that are farther apart are of two rounds.
};

// By the times of the first rows. Nothing if they do not show rounds of as many rows each.
std::optional<Ticks> ticks_of(std::span<const Nanos> times);

}  // namespace amdahl::fleet::nvidia_smi
