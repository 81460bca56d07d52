// clocks.h: finds samples with times of clocks that were not set, by comparing with all others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"

namespace amdahl::fleet {

// Consecutive samples without a long gap.
struct SampleRun {
  Nanos first{};
  Nanos last{};
  std::uint64_t samples = 0;
  bool has_job = false;  // A job ran within it.
};

// Runs farther apart than this are separate: one of them may come from a clock that was not set.
inline constexpr Nanos kFarApart = std::chrono::hours{30 * 24};

// Adds a sample to its run, or starts a new run.
void add_sample(std::vector<SampleRun>& runs, Nanos at, Nanos apart);

// Merges runs no more than `apart` from each other; ordered by time.
std::vector<SampleRun> joined(std::vector<SampleRun> runs, Nanos apart);

// The period in which sample times are plausible.
struct TrueTimes {
  Nanos from{};
  Nanos to{};             // Exclusive.
  std::uint64_t far = 0;  // Samples outside.

  bool holds(Nanos at) const { return at >= from && at < to; }
};
// Nothing if all are plausible. A run before or after all others is implausible if no job ran in
// it and it lies before 2000 (while most samples do not), lies in the future, or has less than 1 %
// of all samples. `now` 0: unknown.
std::optional<TrueTimes> true_times(std::vector<SampleRun> runs, Nanos now);

}  // namespace amdahl::fleet
