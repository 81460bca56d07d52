// anatomy.h: a job's timeline split into phases, and each accelerator's into idle, low,
// productive.
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
  double idle_below = 0.05;           // Idle threshold (0 to 1); 0 always counts as idle.
  double productive_at_least = 0.70;  // For drawing only; the split is weighted by utilisation.
};

// "below 5.0 %", or "at 0" where the threshold is 0.
std::string describe_idle(double idle_below);

// NaN and infinities are unobserved.
Activity activity_of(double utilisation, const Thresholds& thresholds);

// Accelerator-seconds; the four parts sum to allocated. Of observed time: idle is time below the
// idle threshold; low and productive are the unused and the used part of the rest.
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
  double utilisation = 0;  // Mean over the span; NaN if unobserved.
};

// One row of the Amdahl table.
struct CeilingRow {
  std::string name;  // A phase, a cause, or "compute".
  double accelerator_seconds = 0;
  double share = 0;
  double if_vanished = 1;   // Speed-up: 1/(1-share); infinity if share is 1.
  bool is_compute = false;  // The row "if compute were infinitely fast".
};

struct Anatomy {
  std::string job;
  std::string family;
  Nanos wall{};
  Nanos queue{};       // From submit to start; 0: unknown.
  std::string metric;  // Utilisation metric; named in every output.
  Thresholds thresholds;
  // Adjacent spans of one activity are merged.
  std::vector<std::vector<ActivitySpan>> accelerators;
  std::vector<model::Span> phases;  // From flatten() in scan/timeline.h: gaps are "(unnamed)".
  Split split;
  std::vector<CeilingRow> table;  // Phases, then idle and low, then compute; each largest first.
  // From telemetry alone, independent of the job's own reports: see scan/parts.h.
  std::vector<model::Span> stages{};  // start-up, ramp, steady, dip, stall, pause, tail.
  std::vector<Part> parts{};          // Parts of idle and low together; largest first.
  std::vector<std::string> labels{};  // Names of accelerators: "gpu001:3"; empty: their indices.
  std::string no_course{};            // Why there is no timeline; empty: there is.
};

// A sample is valid for its interval; the last one is cut at the job's end, and time without
// samples is unobserved. An allocated accelerator without a series is unobserved; a series beyond
// the allocated ones is ignored.
Split split_of(const model::Usage& usage, const Thresholds& thresholds = {});
Anatomy anatomy_of(const model::Usage& usage, const Thresholds& thresholds = {});

// The same for a job of a fleet, at the resolution of its bounded timelines: each bin counts as
// its mean. Accelerators without observations are drawn as unobserved.
Anatomy anatomy_of(const FleetUsage& usage, const FleetJob& job, std::string family,
                   const Thresholds& thresholds = {});

// Amdahl's law: 1/(1-share), infinity for share >= 1, never below 1.
double ceiling_of(double share);

}  // namespace amdahl::scan
