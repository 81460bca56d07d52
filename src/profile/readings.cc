#include "profile/readings.h"

#include <algorithm>

#include <fmt/format.h>

namespace amdahl::profile {
namespace {

// What changes totals by more than one part in so many is said first.
constexpr int kMatters = 100;

std::vector<std::uint64_t> events_by_source(const model::Trace& trace) {
  std::vector<std::uint64_t> counts(trace.sources.size(), 0);
  for (const model::HostEvent& event : trace.host_events) {
    ++counts[trace.processes[trace.threads[event.thread].process].source];
  }
  for (const model::DeviceEvent& event : trace.device_events) {
    ++counts[trace.devices[trace.device_of(event)].source];
  }
  return counts;
}

// Whether a loss may have changed totals: of how long events are, or of how many there are.
bool changes_totals(const model::Loss& loss, std::uint64_t kept) {
  switch (loss.kind) {
    case model::LossKind::kTruncated:
    case model::LossKind::kBudget:
      return true;  // Nobody knows what came after it.
    case model::LossKind::kUnreadable:
    case model::LossKind::kNoTime:
    case model::LossKind::kNegativeDuration:
    case model::LossKind::kTimeRange:
    case model::LossKind::kUnknownKind:
    case model::LossKind::kNoDevice:
    case model::LossKind::kTooLong:
      return loss.count > (kept + loss.count) / kMatters;
    case model::LossKind::kDuplicateKey:
    case model::LossKind::kControlCharacter:
    case model::LossKind::kUnmatchedFlow:
    case model::LossKind::kMerged:
    case model::LossKind::kMissingTable:
      break;
  }
  return false;
}

}  // namespace

Nanos unseen_of(const TraceReport& report) {
  Nanos unseen{};
  for (const RankFacts& rank : report.ranks.ranks) unseen += std::min(rank.unseen, rank.exposed);
  return unseen;
}

Nanos allocated_of(const TraceReport& report) {
  Nanos all{};
  for (const DeviceRow& row : report.devices) all += row.split.span;
  return all - unseen_of(report);
}

void add_readings(const Prepared& in, TraceReport& report) {
  const auto say = [&](std::string text, bool matters) {
    if (matters) report.readings.push_back(text);
    report.profile.missing.push_back(std::move(text));
  };
  const std::vector<std::uint64_t> kept = events_by_source(in.trace);
  for (const model::Loss& loss : in.trace.losses) {
    if (loss.source >= report.sources.size()) continue;
    say(fmt::format("{}: {}", report.sources[loss.source].file, model::describe(loss)),
        changes_totals(loss, kept[loss.source]));
  }
  if (const Nanos unseen = unseen_of(report); unseen > allocated_of(report) / kMatters) {
    say(fmt::format("ranks: ranks waited {} in collectives for ranks with traces that start later; "
                    "this time is left out, because its cause was not recorded",
                    show_span(unseen)),
        true);
  }
  if (report.ranks.shifts.size() > 1) {
    const auto [least, most] = std::ranges::minmax(report.ranks.shifts);
    if (most - least > report.wall / kMatters) {
      say(fmt::format("ranks: clocks differ by up to {}; they were aligned by the ends of "
                      "collectives",
                      show_span(most - least)),
          true);
    }
  }
  if (report.ranks.ranks.size() > 1 && !report.ranks.note.empty()) {
    say(fmt::format("ranks: {}", report.ranks.note), report.ranks.clocks_disagree);
  }
  Nanos hidden{};
  Nanos idle{};
  for (const DeviceRow& row : report.devices) {
    hidden += row.gaps.in_graphs;
    idle += row.gaps.idle;
  }
  if (hidden > idle / 20 && hidden > allocated_of(report) / kMatters) {
    say(fmt::format(
            "graph nodes: {} of idle time is inside CUDA graphs, where the profiler may not "
            "record kernels; record with node tracing (nsys --cuda-graph-trace=node)",
            show_span(hidden)),
        true);
  }
}

}  // namespace amdahl::profile
