// parts.h: splits a job's waste into parts by time and place, from telemetry alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "model/receipt.h"
#include "model/usage.h"
#include "scan/anatomy.h"
#include "scan/fleet_usage.h"
#include "scan/part.h"

namespace amdahl::scan {

// Of the observed time: the user of such a job needs no advice about it.
inline constexpr double kFewWasted = 0.1;

// One accelerator on the time grid of its job.
struct LaneLine {
  Split split;              // Accelerator-seconds.
  double idle_level = 0;    // Mean utilisation of idle samples.
  std::vector<Bin> bins{};  // Of the job's bin width, from its start; empty: no timeline.
};

struct JobLines {
  Nanos wall{};            // In the window.
  Nanos width{};           // Bin width; 0: no timeline.
  bool start_seen = true;  // The job's start is within the window.
  bool end_seen = true;
  double idle_below = 0.05;
  Split split;  // Of the job, including accelerators without samples.
  std::vector<LaneLine> lanes{};
};
// If bin widths differ, all lanes use the widest.
JobLines lines_of(const FleetUsage& usage, const FleetJob& job);
JobLines lines_of(const model::Usage& usage, const Thresholds& thresholds);

// Accelerator-seconds by kind; they sum exactly to the waste.
using PartSeconds = std::array<double, kPartKinds>;

struct Dissection {
  PartSeconds seconds{};
  std::vector<Part> parts;  // Those above 0, largest first.
  // start-up, ramp, steady, dip, stall, pause, tail; contiguous from 0 to the end. Empty without a
  // timeline.
  std::vector<model::Span> phases;
  double steady_level = 0;
};
Dissection dissect(const JobLines& lines);

// Only the sums: for all jobs of a fleet. Linear in bins.
PartSeconds part_seconds(const JobLines& lines);

}  // namespace amdahl::scan
