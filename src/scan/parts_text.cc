#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/core.h>

#include "base/count.h"
#include "base/text.h"
#include "scan/dissect.h"
#include "scan/parts.h"

namespace amdahl::scan {
namespace {

struct KindWords {
  std::string_view name;
  std::string_view action;
  model::Bottleneck against;
};

constexpr std::array<KindWords, kPartKinds> kWords = {{
    {"unused", "end sessions that do nothing", model::Bottleneck::kAllocation},
    {"partial use", "give back accelerators that do nothing", model::Bottleneck::kAllocation},
    {"start-up", "shorten the start-up", model::Bottleneck::kLifecycle},
    {"ramp", "shorten the warm-up", model::Bottleneck::kLifecycle},
    {"checkpoint-like dips", "checkpoint beside the work", model::Bottleneck::kLifecycle},
    {"stalls", "feed the accelerators without a break", model::Bottleneck::kInput},
    {"pauses", "find out what it waits for", model::Bottleneck::kUnknown},
    {"imbalance", "balance the work", model::Bottleneck::kCommunication},
    {"tail", "let go when the work is done", model::Bottleneck::kLifecycle},
    {"steady, not full", "give each accelerator more to do", model::Bottleneck::kUnknown},
    {"not placed in time", "observe it more closely", model::Bottleneck::kUnknown},
}};

std::string time_text(double seconds) { return show_duration(from_seconds(seconds)); }

double median_seconds(const std::vector<Dip>& dips) {
  std::vector<double> seconds;
  for (const Dip& dip : dips) seconds.push_back(dip.seconds);
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

std::string of_dips(const Findings& found) {
  const auto n = static_cast<std::int64_t>(found.dips.size());
  if (found.idle_all_over > 0) {
    return fmt::format("stands still {} of the time, all over the run",
                       show_percent(found.idle_all_over));
  }
  if (n == 0) return "single accelerators stand still at times";
  if (found.period_seconds > 0) {
    return fmt::format("{} of about {}, one every {}", counted(n, "dip"),
                       time_text(median_seconds(found.dips)), time_text(found.period_seconds));
  }
  const auto [least, most] = std::ranges::minmax(found.dips, {}, &Dip::seconds);
  double together = 0;
  for (const Dip& dip : found.dips) together += dip.seconds;
  const bool is_all = together * static_cast<double>(found.observed_lanes) >=
                      0.5 * found.seconds[index(PartKind::kPauses)];
  const std::string_view more = is_all ? "" : "; single accelerators stand still at times";
  if (n == 1) return fmt::format("1 pause of {}{}", time_text(most.seconds), more);
  return fmt::format("{}, {} to {}{}{}", counted(n, "pause"), time_text(least.seconds),
                     time_text(most.seconds), found.distance_seen ? ", at no fixed distance" : "",
                     more);
}

std::string of_partial(const Findings& found) {
  std::string text;
  const auto lanes = static_cast<std::int64_t>(found.observed_lanes);
  if (found.unused_lanes > 0) {
    text =
        fmt::format("{} of {} idle throughout", found.unused_lanes, counted(lanes, "accelerator"));
  }
  if (found.partial_lanes > 0) {
    text += fmt::format("{}{} of {} idle for a time while others work", text.empty() ? "" : "; ",
                        found.partial_lanes, counted(lanes, "accelerator"));
  }
  return text;
}

std::string of_tail(const Findings& found, const JobLines& lines) {
  if (found.tail == found.bins) {
    return fmt::format("part of the last {}", time_text(found.bin_seconds));
  }
  const double work = static_cast<double>(found.tail) * found.bin_seconds;
  return fmt::format("after {} the last {} stay below half of {}{}", time_text(work),
                     time_text(to_seconds(lines.wall) - work), show_percent(found.steady_level),
                     lines.end_seen ? "" : "; it still runs");
}

std::string evidence(PartKind kind, const Findings& found, const JobLines& lines) {
  const std::string level = show_percent(found.steady_level);
  switch (kind) {
    case PartKind::kUnused:
      if (found.samples == 0) return "idle by its average over the whole job";
      return fmt::format("{} idle in 98 % or more of {}",
                         counted(static_cast<std::int64_t>(found.observed_lanes), "accelerator"),
                         counted(static_cast<std::int64_t>(found.samples), "sample"));
    case PartKind::kPartial:
      return of_partial(found);
    case PartKind::kStartUp:
      if (found.work == 0) return fmt::format("part of the first {}", time_text(found.bin_seconds));
      return fmt::format("{} until half of {} is reached",
                         time_text(static_cast<double>(found.work) * found.bin_seconds), level);
    case PartKind::kRamp:
      return fmt::format(
          "{} more until it is near {}",
          time_text(static_cast<double>(found.steady - found.work) * found.bin_seconds), level);
    case PartKind::kCheckpoints:
    case PartKind::kStalls:
    case PartKind::kPauses:
      return of_dips(found);
    case PartKind::kImbalance:
      return fmt::format("{} behind the busiest, by up to {:.0f} points",
                         counted(static_cast<std::int64_t>(found.behind_lanes), "accelerator"),
                         100 * found.behind_by);
    case PartKind::kTail:
      return of_tail(found, lines);
    case PartKind::kSteady:
      return fmt::format("{} is its usual utilisation while it works",
                         show_percent(found.working_level));
    case PartKind::kUnplaced:
      return found.bins == 0 ? "only sums are known" : "too few samples to say when";
  }
  return "";
}

std::string_view dip_name(PartKind kind) {
  if (kind == PartKind::kCheckpoints) return "dip";
  return kind == PartKind::kStalls ? "stall" : "pause";
}

std::vector<model::Span> phases_of(const Findings& found, const JobLines& lines) {
  std::vector<model::Span> phases;
  const auto add = [&](std::string_view name, std::size_t from, std::size_t end) {
    const Nanos start = lines.width * static_cast<std::int64_t>(from);
    const Nanos stop = std::min(lines.wall, lines.width * static_cast<std::int64_t>(end));
    if (stop > start) {
      phases.push_back({.name = std::string(name), .start = start, .duration = stop - start});
    }
  };
  if (found.level.empty() || found.steady_level <= 0) {
    if (found.all_unused && lines.wall > Nanos{}) {
      phases.push_back({.name = "unused", .start = {}, .duration = lines.wall});
    }
    return phases;
  }
  add("start-up", 0, found.work);
  add("ramp", found.work, found.steady);
  std::size_t at = found.steady;
  for (const Dip& dip : found.dips) {
    // Only those that fill their bins can be drawn where they are.
    if (found.idle_all_over > 0 || dip.seconds < 0.5 * found.bin_seconds) continue;
    add("steady", at, dip.first);
    add(dip_name(found.dips_are), dip.first, dip.end);
    at = dip.end;
  }
  add("steady", at, found.tail);
  add("tail", found.tail, found.bins);
  return phases;
}

}  // namespace

std::string_view name(PartKind kind) { return kWords[index(kind)].name; }
std::string_view action(PartKind kind) { return kWords[index(kind)].action; }
model::Bottleneck bottleneck_of(PartKind kind) { return kWords[index(kind)].against; }

Dissection dissect(const JobLines& lines) {
  const Findings found = find_parts(lines);
  Dissection result{.seconds = found.seconds,
                    .parts = {},
                    .phases = phases_of(found, lines),
                    .steady_level = found.steady_level};
  for (std::size_t k = 0; k < kPartKinds; ++k) {
    const auto kind = static_cast<PartKind>(k);
    // What rounding leaves over is no part.
    if (found.seconds[k] <= 1e-9 * lines.split.allocated) continue;
    Part part{.kind = kind, .accelerator_seconds = found.seconds[k], .evidence = {}};
    part.share = lines.split.allocated > 0 ? part.accelerator_seconds / lines.split.allocated : 0;
    part.share = std::min(part.share, 1.0);
    part.if_vanished = ceiling_of(part.share);
    part.evidence = evidence(kind, found, lines);
    result.parts.push_back(std::move(part));
  }
  std::ranges::stable_sort(result.parts, std::greater<>{}, &Part::accelerator_seconds);
  return result;
}

}  // namespace amdahl::scan
