// anatomy.h: a job's timeline cut into phases, and each accelerator's into idle, low, productive.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "model/profile.h"
#include "model/usage.h"
#include "scan/part.h"

namespace amdahl::scan {

struct FleetUsage;
struct FleetJob;

enum class Activity : std::uint8_t { kUnobserved, kIdle, kLow, kProductive };

struct Thresholds {
  double idle_below = 0.05;           // Utilisation below: idle, and 0 always.
  double productive_at_least = 0.70;  // For drawing only; the split below weighs by utilisation.
};

// "below 5.0 %", or "at 0" where the threshold is 0.
std::string describe_idle(double idle_below);

// NaN and infinities are unobserved.
Activity activity_of(double utilisation, const Thresholds& thresholds);

// Accelerator-seconds; the four sum to allocated. Over observed time: idle = intervals below
// the idle threshold, low = the unused part of the others, productive = their used part.
struct Split {
  double allocated = 0;
  double unobserved = 0;
  double idle = 0;
  double low = 0;
  double productive = 0;
};
Split& operator+=(Split& a, const Split& b);
double wasted(const Split& split);       // idle + low.
double observed_in(const Split& split);  // idle + low + productive.

struct ActivitySpan {
  Activity activity = Activity::kUnobserved;
  Nanos start{};
  Nanos duration{};
  double utilisation = 0;  // Mean over the stretch; NaN if unobserved.
};

// One line of the Amdahl table.
struct CeilingRow {
  std::string name;  // A phase, a cause, or "compute".
  double accelerator_seconds = 0;
  double share = 0;
  double if_vanished = 1;   // Speed-up: 1/(1-share); infinity when share is 1.
  bool is_compute = false;  // The row "if compute were infinitely fast".
};

struct Anatomy {
  std::string job;
  std::string family;
  Nanos wall{};
  std::string metric;  // Which utilisation metric, named in every output.
  Thresholds thresholds;
  std::vector<std::vector<ActivitySpan>> accelerators;  // Neighbours of one activity are merged.
  std::vector<model::Span> phases;  // As flatten() in scan/timeline.h: gaps are "(unnamed)".
  Split split;
  std::vector<CeilingRow> table;  // Phases, then idle and low, then compute. Largest first each.
  // What telemetry alone shows, whatever the job said: see scan/parts.h.
  std::vector<model::Span> stages{};  // start-up, ramp, steady, dip, stall, pause, tail.
  std::vector<Part> parts{};          // Of idle and low together; largest first.
  std::vector<std::string> labels{};  // Of accelerators: "gpu001:3"; empty: their numbers.
  std::string no_course{};            // Why nothing is known over time, in words; empty: it is.
};

// A sample holds for its interval; the job's end cuts the last one short, and what the samples do
// not reach is unobserved. The allocation counts: an accelerator without a series is unobserved,
// a series beyond the allocated ones is not this job's.
Split split_of(const model::Usage& usage, const Thresholds& thresholds = {});
Anatomy anatomy_of(const model::Usage& usage, const Thresholds& thresholds = {});

// The same of a job of a fleet, as fine as its bounded timelines are: a bin is taken as its mean.
// Accelerators beyond those that were observed are drawn as unobserved.
Anatomy anatomy_of(const FleetUsage& usage, const FleetJob& job, std::string family,
                   const Thresholds& thresholds = {});

// Amdahl's law: 1/(1-share), infinity from share 1 on, never below 1.
double ceiling_of(double share);

}  // namespace amdahl::scan
