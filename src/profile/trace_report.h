// trace_report.h: all that the analyses say of a trace, plain data for pages and JSON.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/profile.h"
#include "profile/breakdown.h"
#include "profile/critical_path.h"
#include "profile/gaps.h"
#include "profile/kernel_table.h"
#include "profile/kernels.h"
#include "profile/ranks.h"
#include "profile/thread_waits.h"
#include "profile/what_if.h"

namespace amdahl::profile {

struct SourceRow {
  std::string file;
  std::string format;
  std::int32_t rank = -1;  // -1: it does not say.
  std::int32_t world_size = 0;
  std::uint64_t bytes = 0;  // Unpacked.
  std::vector<std::string> losses;
};

struct DeviceRow {
  std::string name;  // "rank 3, device 0 (NVIDIA A100)".
  std::uint32_t source = model::kNone;
  DeviceBreakdown split;
  DeviceGaps gaps;
  double waiting_mean = 0;  // Events launched and not started, over the device's span.
  std::int32_t waiting_most = 0;
};

// One step of one rank. Device and idle sum to wall.
struct StepRow {
  std::int32_t rank = -1;
  std::int64_t number = 0;
  Nanos start{};
  Nanos wall{};
  Nanos input{};   // Its thread waits for a batch.
  Nanos host{};    // CPU work on the critical path, launching included.
  Nanos device{};  // A device is busy.
  Nanos comm{};    // Communication while nothing computes; without devices, on the path.
  Nanos idle{};    // No device is busy.
  std::array<Nanos, kWhys> path{};  // What the critical path went through meanwhile.
};

struct TraceReport {
  std::vector<SourceRow> sources;
  Nanos wall{};
  std::vector<DeviceRow> devices;
  std::vector<StepRow> steps;
  Ranks ranks;
  CriticalPath path;  // Its segments stay with it.
  Gains gains;
  KernelTable work;                  // What devices computed, by kind.
  std::vector<KernelFacts> kernels;  // That Nsight Compute measured.
  std::vector<WaitRow> waits;        // Of threads, where a collector saw them.
  std::vector<HotRow> hot;           // Functions, where a profiler sampled them.
  std::string asked;                 // The what-if that was typed; empty: none.
  std::optional<Gain> answer;
  model::Profile profile;  // Causes, evidence, class, rule and what is missing.
  // Of profile.missing: what changes totals by more than a hundredth (dropped or cut events, clocks
  // that were aligned, time that was left out). Pages say it first.
  std::vector<std::string> readings;
  bool is_told_by_steps = false;  // Causes are of the steps' path, not of idle devices.
};

struct ReportOptions {
  std::optional<WhatIf> what_if;
  std::vector<Nanos> cuts = {};  // Where captures were laid end to end (captures.h).
};

// One pass over the trace for each analysis; all are n log n at most.
TraceReport report(const Prepared& prepared, const ReportOptions& options = {});

// A time as people read it, with three digits in the unit that suits: a trace has all sizes.
std::string show_span(Nanos time);

}  // namespace amdahl::profile
