// later.h: what the later jobs of a family saved, by month, and whether they cost more. No I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"

namespace amdahl::canary {

// A promoted change, in effect from its promotion until it was rolled back.
struct InEffect {
  std::string hypothesis;
  double promised = 0;  // ln.
  Nanos from{};         // Unix time.
  Nanos until{};        // 0: still in effect.
};

// A job of the family that has ended, however it was started.
struct LaterJob {
  std::string id;
  Nanos start{};                 // Unix time.
  double accelerator_s = 0;      // What it cost.
  std::optional<double> work{};  // Units of work, if it reported them.
  bool failed = false;
  // What it ran with, if `amdahl run --promoted` recorded that. Otherwise it is taken to have run
  // with everything that was in effect when it started: if it did not, the saving comes out as
  // small as it was.
  std::optional<std::vector<std::string>> changes{};

  friend bool operator==(const LaterJob&, const LaterJob&) = default;
};

// In accelerator-seconds; jobs that failed are in none of them.
struct MonthSaved {
  std::string month;  // "2026-11", UTC.
  std::int64_t jobs = 0;
  double used = 0;
  double saved = 0;  // Cost without the changes minus `used`.
  double lower = 0;  // 95 % interval.
  double upper = 0;
};

// ln(cost without / cost with), per unit of work if jobs report it.
struct Seen {
  std::string hypothesis;
  std::int64_t jobs = 0;  // With the change.
  double effect = 0;
  double lower = 0;  // 95 % interval; wide if another change came at the same time.
  double upper = 0;
};

struct Realised {
  std::vector<MonthSaved> months{};  // Those with a job that ran with a change, oldest first.
  std::vector<Seen> changes{};       // In the order given.
  // Jobs with all that is in effect now cost more than without any of it: the change to roll back,
  // and why in one sentence. Empty: no alarm.
  std::string alarm{};
  std::string because{};
};

inline constexpr std::size_t kLeastJobs = 8;   // With a change, and without.
inline constexpr double kAlarmDeviations = 4;  // False alarms must be rare, however often we look.

// Costs are compared with those of the same family's jobs before the promotion and of runs that
// were held back, on a level that drifts (stats/local_level.h). `jobs` in any order; a job whose
// id and start are twice counts once. Nothing with fewer than kLeastJobs on either side.
std::optional<Realised> realised(std::span<const InEffect> changes, std::vector<LaterJob> jobs);

}  // namespace amdahl::canary
