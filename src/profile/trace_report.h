// trace_report.h: all results of the analyses of a trace, plain data for pages and JSON.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/profile.h"
#include "profile/bandwidth.h"
#include "profile/breakdown.h"
#include "profile/critical_path.h"
#include "profile/gaps.h"
#include "profile/kernel_table.h"
#include "profile/kernels.h"
#include "profile/pipeline.h"
#include "profile/ranks.h"
#include "profile/serving.h"
#include "profile/thread_waits.h"
#include "profile/what_if.h"

namespace amdahl::profile {

struct SourceRow {
  std::string file;
  std::string format;
  std::int32_t rank = -1;  // -1: unknown.
  std::int32_t world_size = 0;
  std::uint64_t bytes = 0;  // Unpacked.
  std::vector<std::string> losses;
};

struct DeviceRow {
  std::string name;  // "rank 3, device 0 (NVIDIA A100)".
  std::uint32_t source = model::kNone;
  DeviceBreakdown split;
  DeviceGaps gaps;
  double waiting_mean = 0;  // Events launched but not started, averaged over the device's span.
  std::int32_t waiting_most = 0;
};

// One step of one rank. Device and idle sum to wall.
struct StepRow {
  std::int32_t rank = -1;
  std::int64_t number = 0;
  Nanos start{};
  Nanos wall{};
  Nanos input{};   // Its thread waits for a batch.
  Nanos host{};    // CPU work on the critical path, including launches.
  Nanos device{};  // A device is busy.
  Nanos comm{};    // Communication without computation; without devices, on the path.
  Nanos idle{};    // No device is busy.
  std::array<Nanos, kWhys> path{};  // The critical path during the step.
};

struct TraceReport {
  std::vector<SourceRow> sources;
  Nanos wall{};
  std::vector<DeviceRow> devices;
  std::vector<StepRow> steps;
  Ranks ranks;
  std::vector<CollectiveSpeed> speeds;  // Of collectives whose size the trace has.
  CriticalPath path;                    // Its segments stay with it.
  Gains gains;
  std::optional<Pipeline> pipeline;   // Of a trace of operations.
  KernelTable work;                   // What devices computed, by kind.
  std::vector<ServingPhase> serving;  // Prefill and decode steps of an inference server.
  std::vector<KernelFacts> kernels;   // Measured by Nsight Compute.
  std::vector<WaitRow> waits;         // Of threads, if recorded.
  std::vector<HotRow> hot;            // Sampled functions, if recorded.
  std::string asked;                  // The what-if that was typed; empty: none.
  std::optional<Gain> answer;
  model::Profile profile;  // Causes, evidence, class, rule and missing data.
  // The entries of profile.missing that change totals by more than 1 % (dropped or truncated
  // events, aligned clocks, excluded time). Pages show them first.
  std::vector<std::string> readings;
  bool is_told_by_steps = false;  // Causes come from the steps' path, not from idle devices.
};

struct ReportOptions {
  std::optional<WhatIf> what_if;
  std::vector<Nanos> cuts = {};  // Where captures were joined (captures.h).
};

// One pass over the trace per analysis; O(n log n) at most.
TraceReport report(const Prepared& prepared, const ReportOptions& options = {});

// A time for people: three digits in a fitting unit.
std::string show_span(Nanos time);

}  // namespace amdahl::profile
