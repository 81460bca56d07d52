// clocks.h: which times are of clocks that were not set, told from when all the others were.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"

namespace amdahl::fleet {

// Samples without a long gap between them, in the order of time.
struct SampleRun {
  Nanos first{};
  Nanos last{};
  std::uint64_t samples = 0;
  bool has_job = false;  // Some job was accounted for within.
};

// Runs so far apart are two: one of them may be of a clock that was not set.
inline constexpr Nanos kFarApart = std::chrono::hours{30 * 24};

// Takes a sample into the run that it belongs to, or begins another.
void add_sample(std::vector<SampleRun>& runs, Nanos at, Nanos apart);

// Runs no more than `apart` from each other, as one; in the order of time.
std::vector<SampleRun> joined(std::vector<SampleRun> runs, Nanos apart);

// The times that samples may be believed at.
struct TrueTimes {
  Nanos from{};
  Nanos to{};             // Not in it.
  std::uint64_t far = 0;  // Samples outside.

  bool holds(Nanos at) const { return at >= from && at < to; }
};
// Nothing if all are. Far are, before or after all others, runs without a job that lie before 2000
// where most samples do not, that are still to come, or that hold less than a hundredth of all.
// `now` 0: not known.
std::optional<TrueTimes> true_times(std::vector<SampleRun> runs, Nanos now);

}  // namespace amdahl::fleet
