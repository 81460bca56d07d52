// parts.h: a job's waste cut into parts by when and where it happened, from telemetry alone.
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

// One accelerator on the grid of its job.
struct LaneLine {
  Split split;              // Accelerator-seconds.
  double idle_level = 0;    // Mean utilisation of samples that count as idle.
  std::vector<Bin> bins{};  // Of the job's width, from its start; empty: no timeline.
};

struct JobLines {
  Nanos wall{};            // In the window.
  Nanos width{};           // Of a bin; 0: no timeline.
  bool start_seen = true;  // The job's start lies in the window.
  bool end_seen = true;
  double idle_below = 0.05;
  Split split;  // Of the job, accelerators without samples included.
  std::vector<LaneLine> lanes{};
};
// Lanes with bins of several widths are put on the widest.
JobLines lines_of(const FleetUsage& usage, const FleetJob& job);
JobLines lines_of(const model::Usage& usage, const Thresholds& thresholds);

// Accelerator-seconds by kind. They are parts of what was wasted: together neither more nor less.
using PartSeconds = std::array<double, kPartKinds>;

struct Dissection {
  PartSeconds seconds{};
  std::vector<Part> parts;          // Those above 0, largest first.
  std::vector<model::Span> phases;  // start-up, ramp, steady, dip, stall, pause, tail; from 0 to
                                    // the end without a gap. Empty if there is no timeline.
  double steady_level = 0;
};
Dissection dissect(const JobLines& lines);

// The sums alone: for all jobs of a fleet. Linear in bins.
PartSeconds part_seconds(const JobLines& lines);

}  // namespace amdahl::scan
