#include "profile/diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "base/count.h"
#include "base/screen.h"
#include "base/text.h"
#include "profile/kernel_kinds.h"
#include "stats/tests.h"

namespace amdahl::profile {
namespace {

constexpr std::array<std::string_view, 4> kByNames = {"cause", "kind", "kernel", "line"};
constexpr double kWorthShowing = 1e-3;  // Of the whole.
constexpr std::size_t kShownOfEach = 8;

// The steps of each rank, to find the one that an event began in.
class StepFinder {
 public:
  explicit StepFinder(const std::vector<StepRow>& steps) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      by_rank_[steps[i].rank].push_back({steps[i].start, steps[i].start + steps[i].wall, i});
    }
    for (auto& [_, list] : by_rank_) std::ranges::sort(list, {}, &Span::from);
  }

  // Of the rows given; their number if there is none.
  std::optional<std::size_t> step_at(std::int32_t rank, Nanos at) const {
    const auto list = by_rank_.find(rank);
    if (list == by_rank_.end()) return std::nullopt;
    auto after = std::ranges::upper_bound(list->second, at, {}, &Span::from);
    if (after == list->second.begin()) return std::nullopt;
    --after;
    return at < after->to ? std::optional(after->step) : std::nullopt;
  }

 private:
  struct Span {
    Nanos from;
    Nanos to;
    std::size_t step;
  };
  std::map<std::int32_t, std::vector<Span>> by_rank_;
};

using Parts = std::map<std::pair<DiffBy, std::string>, std::vector<double>>;

void add_kernels(const Prepared& prepared, const TraceReport& report, Parts& parts) {
  const model::Trace& trace = prepared.trace;
  const StepFinder finder(report.steps);
  const std::size_t width = std::max<std::size_t>(report.steps.size(), 1);
  struct Named {
    std::vector<double>* kind = nullptr;
    std::vector<double>* kernel = nullptr;
  };
  std::map<std::uint32_t, Named> known;
  for (const model::DeviceEvent& event : trace.device_events) {
    const bool is_copy =
        event.kind == model::DeviceKind::kCopy || event.kind == model::DeviceKind::kSet;
    if (!is_copy && event.kind != model::DeviceKind::kKernel) continue;
    std::size_t step = 0;
    if (!report.steps.empty()) {
      const auto& device = trace.devices[trace.streams[event.stream].device];
      const auto found = finder.step_at(trace.sources[device.source].rank, event.start);
      if (!found) continue;
      step = *found;
    }
    Named& named = known[event.name];
    if (!named.kind) {
      const std::string_view full = trace.names[event.name];
      const KernelKind kind = is_copy ? KernelKind::kCopy : kernel_kind(full);
      named.kind = &parts[{DiffBy::kKind, std::string(name(kind))}];
      named.kernel = &parts[{DiffBy::kKernel, is_copy ? std::string(full) : kernel_title(full)}];
      named.kind->resize(width);
      named.kernel->resize(width);
    }
    (*named.kind)[step] += to_seconds(event.duration);
    (*named.kernel)[step] += to_seconds(event.duration);
  }
}

void add_causes(const TraceReport& report, Parts& parts) {
  if (report.steps.empty()) {
    for (const WhyRow& row : whys()) {
      const Nanos time = report.path.by_why[at(row.why)];
      if (time > Nanos{}) parts[{DiffBy::kCause, std::string(row.name)}] = {to_seconds(time)};
    }
    return;
  }
  for (const WhyRow& row : whys()) {
    std::vector<double> seconds;
    double all = 0;
    for (const StepRow& step : report.steps) {
      seconds.push_back(to_seconds(step.path[at(row.why)]));
      all += seconds.back();
    }
    if (all > 0) parts[{DiffBy::kCause, std::string(row.name)}] = std::move(seconds);
  }
}

// The critical path by line; sums, so per step they have no noise of their own.
void add_lines(const TraceReport& report, Parts& parts) {
  const double steps = std::max<double>(static_cast<double>(report.steps.size()), 1);
  for (const auto& place : report.path.shares) {
    if (place.line.empty()) continue;
    std::vector<double>& seconds = parts[{DiffBy::kLine, place.line}];
    seconds.resize(1);
    seconds[0] += to_seconds(place.time) / steps;
  }
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// The quantile of Student's t that leaves 2.5 % above it.
double t_quantile(double degrees) {
  double low = 0;
  double high = 1000;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (stats::student_t_tail(middle, degrees) > 0.025 ? low : high) = middle;
  }
  return high;
}

std::string span(double seconds) {
  const Nanos time = from_seconds(std::abs(seconds));
  return (seconds < 0 ? "-" : "") + show_span(time);
}

std::string signed_span(double seconds) { return (seconds >= 0 ? "+" : "") + span(seconds); }

std::string signed_percent(double share) {
  return (share >= 0 ? "+" : "-") + show_percent(std::abs(share));
}

}  // namespace

std::string_view name(DiffBy by) { return kByNames[static_cast<std::size_t>(by)]; }

DiffSide diff_side(const Prepared& prepared, const TraceReport& report) {
  DiffSide side;
  if (!report.sources.empty()) side.label = report.sources.front().file;
  side.wall = to_seconds(report.wall);
  side.ranks = std::max<std::size_t>(report.sources.size(), 1);
  for (const StepRow& step : report.steps) side.steps.push_back(to_seconds(step.wall));
  Parts parts;
  add_causes(report, parts);
  add_kernels(prepared, report, parts);
  add_lines(report, parts);
  for (auto& [key, seconds] : parts) {
    side.parts.push_back({key.first, key.second, std::move(seconds)});
  }
  return side;
}

Moved moved_between(const std::vector<double>& before, const std::vector<double>& after) {
  Moved moved;
  moved.before = mean_of(before);
  moved.after = mean_of(after);
  moved.change = moved.after - moved.before;
  if (before.size() < 2 || after.size() < 2) return moved;
  const auto error = [](const std::vector<double>& values) {
    const double deviation = stats::mean_deviation(values).deviation;
    return deviation * deviation / static_cast<double>(values.size());
  };
  const double a = error(before);
  const double b = error(after);
  double half = 0;
  if (a + b > 0) {
    const double degrees = (a + b) * (a + b) /
                           (a * a / static_cast<double>(before.size() - 1) +
                            b * b / static_cast<double>(after.size() - 1));
    half = t_quantile(std::max(1.0, degrees)) * std::sqrt(a + b);
  }
  moved.lower = moved.change - half;
  moved.upper = moved.change + half;
  moved.can_tell = *moved.lower > 0 || *moved.upper < 0;
  return moved;
}

Diff diff(const DiffSide& before, const DiffSide& after) {
  Diff result;
  result.before = before.label;
  result.after = after.label;
  result.steps_before = before.steps.size();
  result.steps_after = after.steps.size();
  result.by_step = !before.steps.empty() && !after.steps.empty();
  if (!result.by_step && before.steps.size() != after.steps.size()) {
    result.notes.emplace_back("only one side marks steps: whole captures are compared");
  }
  if (!result.by_step) {
    result.notes.emplace_back(
        "no steps are marked, so the noise is not known: record several steps "
        "(torch.profiler: prof.step(); NVTX: a range for each step)");
  }
  if (before.ranks != after.ranks) {
    result.notes.push_back(fmt::format("{} before, {} after: causes and kernels are per rank",
                                       counted(static_cast<std::int64_t>(before.ranks), "file"),
                                       counted(static_cast<std::int64_t>(after.ranks), "file")));
  }
  // Without steps on both sides, what was measured by step counts as a whole again.
  const auto values = [&](const DiffPart& part, const DiffSide& side) {
    if (result.by_step || side.steps.empty()) return part.seconds;
    return std::vector<double>{mean_of(part.seconds) * static_cast<double>(part.seconds.size())};
  };
  result.whole = result.by_step ? moved_between(before.steps, after.steps)
                                : moved_between({before.wall}, {after.wall});
  const double whole = result.whole.before;
  if (whole > 0) {
    result.relative = result.whole.change / whole;
    if (result.whole.lower) result.relative_lower = *result.whole.lower / whole;
    if (result.whole.upper) result.relative_upper = *result.whole.upper / whole;
  }
  std::map<std::pair<DiffBy, std::string>, std::pair<std::vector<double>, std::vector<double>>> all;
  for (const DiffPart& part : before.parts) all[{part.by, part.name}].first = values(part, before);
  for (const DiffPart& part : after.parts) all[{part.by, part.name}].second = values(part, after);
  for (auto& [key, sides] : all) {
    // What one side does not have took no time there, in none of its steps.
    if (sides.first.empty()) sides.first.resize(result.by_step ? before.steps.size() : 1);
    if (sides.second.empty()) sides.second.resize(result.by_step ? after.steps.size() : 1);
    if (key.first == DiffBy::kLine) {
      sides.first = {mean_of(sides.first)};
      sides.second = {mean_of(sides.second)};
    }
    Moved row = moved_between(sides.first, sides.second);
    if (std::abs(row.change) < kWorthShowing * whole) continue;
    row.by = key.first;
    row.name = key.second;
    result.rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(result.rows, [](const Moved& a, const Moved& b) {
    return std::abs(a.change) > std::abs(b.change);
  });
  return result;
}

Result<double> parse_fail_if(std::string_view text) {
  constexpr std::string_view kStart = "regression>";
  std::string plain_text(text);
  std::erase(plain_text, ' ');
  std::string_view rest = plain_text;
  const auto wrong = [&] {
    return bad_input(fmt::format("--fail-if must be 'regression>3%' (0 to 1000), not '{}'", text));
  };
  if (!rest.starts_with(kStart) || !rest.ends_with('%')) return wrong();
  rest.remove_prefix(kStart.size());
  rest.remove_suffix(1);
  const auto percent = to_number<double>(rest);
  if (!percent || !(*percent >= 0 && *percent <= 1000)) return wrong();
  return *percent / 100;
}

bool is_regression(const Diff& diff, double limit) {
  if (diff.relative <= limit) return false;
  return !diff.relative_lower || *diff.relative_lower > 0;
}

std::string draw(const Diff& diff, int width) {
  const std::string unit = diff.by_step ? "step" : "whole capture";
  std::string text =
      fmt::format("before: {}\nafter:  {}\n\n", plain(diff.before), plain(diff.after));
  text += fmt::format("{}: {} -> {} ({}", unit, span(diff.whole.before), span(diff.whole.after),
                      signed_percent(diff.relative));
  if (diff.relative_lower) {
    text += fmt::format("; {} to {}, 95 %, {} and {} steps{}", signed_percent(*diff.relative_lower),
                        signed_percent(*diff.relative_upper), diff.steps_before, diff.steps_after,
                        diff.whole.can_tell ? "" : ": may be noise");
  }
  text += ")\n";
  for (const std::string& note : diff.notes) text += fmt::format("note: {}\n", note);
  const auto name_width = static_cast<std::size_t>(std::max(width - 58, 20));
  const auto line = [&](std::string_view what, std::string_view was, std::string_view is,
                        std::string_view change, std::string_view share, std::string_view noise) {
    std::string row = left(what, name_width) + right(was, 11) + right(is, 11) + right(change, 11) +
                      right(share, 10);
    if (!noise.empty()) row += fmt::format("  {}", noise);
    return row + "\n";
  };
  for (const DiffBy by : {DiffBy::kCause, DiffBy::kKind, DiffBy::kKernel, DiffBy::kLine}) {
    std::size_t shown = 0;
    for (const Moved& row : diff.rows) {
      if (row.by != by || shown == kShownOfEach) continue;
      if (shown++ == 0) {
        text += "\n" + line(fmt::format("by {}", name(by)), "before", "after", "change",
                            diff.by_step ? "of a step" : "of all", "");
      }
      const double share = diff.whole.before > 0 ? row.change / diff.whole.before : 0;
      text += line(plain(row.name), span(row.before), span(row.after), signed_span(row.change),
                   signed_percent(share), row.lower && !row.can_tell ? "may be noise" : "");
    }
  }
  if (diff.rows.empty()) text += "\nNothing moved by 0.1 % or more.\n";
  return text;
}

}  // namespace amdahl::profile
