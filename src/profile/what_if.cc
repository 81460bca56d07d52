#include "profile/what_if.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/busy.h"
#include "profile/critical_path.h"

namespace amdahl::profile {
namespace {

using model::kNone;

constexpr std::string_view kKernelPrefix = "kernel:";

Nanos scaled(Nanos time, double factor) {
  if (factor == 1) return time;
  return Nanos{std::llround(static_cast<double>(time.count()) * factor)};
}

// By name: what its kernels take.
std::vector<double> kernel_factors(const Prepared& in, const WhatIf& what_if) {
  std::vector<double> factors;
  if (what_if.kernels.empty()) return factors;
  factors.assign(in.trace.names.size(), 1);
  for (std::uint32_t i = 0; i < in.trace.names.size(); ++i) {
    const std::string name = lower(in.trace.names[i]);
    for (const WhatIf::Kernel& kernel : what_if.kernels) {
      if (name.find(lower(kernel.part)) != std::string::npos) factors[i] *= kernel.factor;
    }
  }
  return factors;
}

// Whether the lag of a need is of a device's queues.
bool is_queue(const Need& need, const Work& work) {
  switch (need.kind) {
    case NeedKind::kOrder:
      return work.on_device();
    case NeedKind::kStreamWait:
    case NeedKind::kRelease:
    case NeedKind::kRoom:
      return true;
    default:
      return false;
  }
}

double lag_factor(const Need& need, const Work& work, const std::array<double, kWhys>& factors) {
  if (need.kind == NeedKind::kLaunch) return factors[at(Why::kLaunch)];
  return is_queue(need, work) ? factors[at(Why::kQueue)] : 1;
}

// Needs that a change can take away, and what that change is called; kUnknown: none can.
Why removable(const Need& need, const Work& work) {
  if (work.role == WorkRole::kHub)
    return Why::kUnknown;  // Where ranks meet: each may go on without.
  if (need.kind == NeedKind::kWait) return Why::kSync;
  if (need.kind == NeedKind::kCollective) return Why::kStraggler;
  return Why::kUnknown;
}

Error knows_no(std::string_view word) {
  std::vector<std::string_view> names;
  for (const WhyRow& row : whys()) {
    if (row.why != Why::kUnknown && row.why != Why::kProfiler) names.push_back(row.name);
  }
  const auto near = did_you_mean(word, names);
  return bad_input(fmt::format("--what-if: unknown cause '{}'{} known: {}, kernel:PART-OF-ITS-NAME",
                               word, near ? fmt::format(", did you mean '{}'?", *near) : ";",
                               fmt::join(names, ", ")));
}

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

double ratio(Nanos a, Nanos b) { return b > Nanos{} ? to_seconds(a) / to_seconds(b) : kUnbounded; }

// `most`: what devices allow.
void finish(Gain& gain, const Measured& measured, double most, Nanos wall) {
  gain.share = measured.wall > Nanos{} ? std::min(1.0, ratio(gain.time, measured.wall)) : 0;
  gain.expected = std::min(ratio(wall, gain.replayed), most);
  // Shares are of steps where these are marked, and the replay is of all: what that gains is no
  // more than can be gained.
  gain.ceiling =
      std::max(std::min(gain.share >= 1 ? kUnbounded : 1 / (1 - gain.share), most), gain.expected);
}

// Where each rank's shares are taken: its steps, or all of it if it has none.
std::vector<std::vector<Interval>> windows_of(const Prepared& in, const WorkGraph& graph) {
  std::vector<std::vector<Interval>> steps(in.trace.sources.size());
  for (const model::Step& step : in.trace.steps) {
    const std::uint32_t source = in.trace.processes[in.trace.threads[step.thread].process].source;
    const Nanos from = step.start - graph.shifts[source];
    steps[source].push_back({from, from + step.duration});
  }
  for (std::vector<Interval>& of_source : steps) {
    of_source = merged(std::move(of_source));
    if (of_source.empty()) of_source.push_back({graph.from, graph.to});
  }
  return steps;
}

std::uint32_t source_of(const model::Trace& trace, std::uint32_t lane, bool on_device) {
  if (lane == kNone) return kNone;
  if (on_device) return trace.devices[trace.streams[lane].device].source;
  return trace.processes[trace.threads[lane].process].source;
}

using Windows = std::vector<std::vector<Interval>>;  // By source.

// The works of devices that no change takes apart, and what each takes in steps and in all.
class Chains {
 public:
  Chains(const Prepared& in, const WorkGraph& graph) : in_{in}, graph_{graph} {
    const Windows windows = windows_of(in, graph);
    for (const std::vector<Interval>& window : windows) wall_ = std::max(wall_, total(window));
    for (std::uint32_t i = 0; i < graph.works.size(); ++i) {
      const Work& work = graph.works[i];
      if (!work.on_device() || work.role == WorkRole::kHub) continue;
      const auto meets = [](const Need& need) { return need.kind == NeedKind::kCollective; };
      const bool counts =
          work.why != Why::kComm || std::ranges::any_of(graph.needs_of(work), meets);
      const std::uint32_t source = source_of(in.trace, work.lane, true);
      links_.push_back({i, counts ? within(windows[source], {work.from, work.to}) : Nanos{},
                        counts ? work.to - work.from : Nanos{}});
    }
  }

  double ceiling(const WhatIf& what_if) const {
    // Who comes late comes earlier by doing its own work faster: that is no work that stays.
    if (what_if.factors[at(Why::kStraggler)] < 1) return kUnbounded;
    const std::vector<double> kernels = kernel_factors(in_, what_if);
    std::vector<Takes> ends(links_.size());
    Takes longest;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      const Work& work = graph_.works[links_[i].work];
      double factor = what_if.factors[at(work.why)];
      if (!kernels.empty()) factor *= kernels[in_.trace.device_events[work.event].name];
      Takes& end = ends[i];
      for (const Need& need : graph_.needs_of(work)) {
        // What a stream had put behind other work stays behind it, whatever it waited for besides.
        const bool in_stream =
            need.kind == NeedKind::kBacklog && graph_.works[need.work].lane == work.lane;
        const bool follows =
            need.kind == NeedKind::kOrder || need.kind == NeedKind::kStreamWait || in_stream;
        if (!follows) continue;
        const auto on = std::ranges::lower_bound(links_, need.work, {}, &Link::work);
        if (on != links_.end() && on->work == need.work) {
          end.raise(ends[static_cast<std::size_t>(on - links_.begin())]);
        }
      }
      end.in_steps += scaled(links_[i].in_steps, factor);
      end.in_all += scaled(links_[i].in_all, factor);
      longest.raise(end);
    }
    return std::max(ratio(wall_, longest.in_steps), ratio(graph_.to - graph_.from, longest.in_all));
  }

 private:
  struct Takes {
    Nanos in_steps{};
    Nanos in_all{};
    void raise(const Takes& other) {
      in_steps = std::max(in_steps, other.in_steps);
      in_all = std::max(in_all, other.in_all);
    }
  };
  struct Link {
    std::uint32_t work = 0;
    Nanos in_steps{};
    Nanos in_all{};
  };

  const Prepared& in_;
  const WorkGraph& graph_;
  std::vector<Link> links_;
  Nanos wall_{};  // Of the steps, or of all.
};

// How long spans take that come in order of their start, together and within a rank's windows.
class InOrder {
 public:
  void add(Interval span, std::span<const Interval> windows) {
    if (span.from > last_.to || last_.from >= last_.to) {
      sum_ += within(windows, last_);
      last_ = span;
    } else {
      last_.to = std::max(last_.to, span.to);
    }
  }
  Nanos total(std::span<const Interval> windows) const { return sum_ + within(windows, last_); }

 private:
  Interval last_;
  Nanos sum_{};
};

// The spans that a reason takes part in, by rank: works, the lags of needs, and what is waited.
class Spans {
 public:
  Spans(const Prepared& prepared, const WorkGraph& graph)
      : in_{prepared}, graph_{graph}, windows_{windows_of(prepared, graph)} {
    by_source_.resize(in_.trace.sources.size());
    for (const Work& work : graph_.works) add(work);
  }

  Measured longest() {
    Measured found;
    for (std::size_t source = 0; source < by_source_.size(); ++source) {
      for (std::size_t i = 0; i < kWhys; ++i) {
        const std::vector<Interval> spans = merged(std::move(by_source_[source].lists[i]));
        const Nanos sum = spans.empty() ? by_source_[source].works[i].total(windows_[source])
                                        : overlap(spans, windows_[source]);
        found.times[i] = std::max(found.times[i], sum);
      }
      found.wall = std::max(found.wall, total(windows_[source]));
    }
    if (by_source_.size() > 1) add_path(found);
    return found;
  }

 private:
  // Of one rank, by reason. Works come in order of their start; of reasons that only works have
  // nothing needs to be kept, and they are the most.
  struct OfSource {
    std::array<InOrder, kWhys> works;
    std::array<std::vector<Interval>, kWhys> lists;
  };

  static bool is_of_needs(Why why) {
    return why == Why::kLaunch || why == Why::kQueue || why == Why::kSync || why == Why::kStraggler;
  }

  void add_path(Measured& found) const {
    std::array<Nanos, kWhys> on_path{};
    for (const PathSegment& segment : path_segments(graph_)) {
      const std::uint32_t source = source_of(in_.trace, segment.lane, segment.on_device);
      if (source == kNone) continue;
      on_path[at(segment.why)] += within(windows_[source], {segment.from, segment.to});
    }
    for (std::size_t i = 0; i < kWhys; ++i) found.times[i] = std::max(found.times[i], on_path[i]);
  }

  void add(const Work& work) {
    const std::uint32_t source = source_of(in_.trace, work.lane, work.on_device());
    if (source == kNone) return;
    auto& spans = by_source_[source].lists;
    if (is_of_needs(work.why)) {
      put(spans[at(work.why)], work.from, work.to);
    } else {
      by_source_[source].works[at(work.why)].add({work.from, work.to}, windows_[source]);
    }
    Nanos own = graph_.from;  // When all else was ready that no change takes away.
    for (const Need& need : graph_.needs_of(work)) {
      const Nanos end = graph_.works[need.work].to;
      const Nanos ready = end + need.lag;
      if (removable(need, work) == Why::kUnknown) own = std::max(own, ready);
      if (need.kind == NeedKind::kLaunch) put(spans[at(Why::kLaunch)], end, ready);
      if (is_queue(need, work)) put(spans[at(Why::kQueue)], end, ready);
    }
    for (const Need& need : graph_.needs_of(work)) {
      const Why why = removable(need, work);
      if (why == Why::kUnknown) continue;
      put(spans[at(why)], own, graph_.works[need.work].to + need.lag);
    }
  }

  // Spans come nearly in order: joining what touches keeps the lists short.
  static void put(std::vector<Interval>& spans, Nanos from, Nanos to) {
    if (from >= to) return;
    if (!spans.empty() && spans.back().from <= from && from <= spans.back().to) {
      spans.back().to = std::max(spans.back().to, to);
    } else {
      spans.push_back({from, to});
    }
  }

  const Prepared& in_;
  const WorkGraph& graph_;
  Windows windows_;
  std::vector<OfSource> by_source_;
};

Result<double> factor_of(std::string_view text, std::string_view item) {
  const auto factor = to_number<double>(text);
  if (!factor || !std::isfinite(*factor) || *factor < 0 || *factor > 100) {
    return bad_input(
        fmt::format("--what-if '{}': '{}' is not a factor from 0 (removed) to 100; try {}=0", item,
                    text, item.substr(0, item.find('='))));
  }
  return *factor;
}

}  // namespace

Result<WhatIf> parse_what_if(std::string_view text) {
  WhatIf what_if;
  std::set<std::string_view> seen;
  for (const std::string_view piece : split(text, ',')) {
    const std::string_view item = trim(piece);
    const std::size_t equals = item.rfind('=');
    if (item.empty() || equals == std::string_view::npos) {
      return bad_input(fmt::format("--what-if '{}' has no factor; try {}=0", item,
                                   item.empty() ? "input" : item));
    }
    const std::string_view what = trim(item.substr(0, equals));
    const double factor = TRY(factor_of(trim(item.substr(equals + 1)), item));
    if (!seen.emplace(what).second) {
      return bad_input(fmt::format("--what-if names '{}' twice", what));
    }
    if (what.starts_with(kKernelPrefix) && what.size() > kKernelPrefix.size()) {
      what_if.kernels.push_back({std::string(what.substr(kKernelPrefix.size())), factor});
      continue;
    }
    const auto why = why_named(what);
    if (!why || *why == Why::kUnknown) {
      return knows_no(what);
    }
    what_if.factors[at(*why)] = factor;
  }
  return what_if;
}

std::string describe(const WhatIf& what_if) {
  std::vector<std::string> items;
  for (const WhyRow& row : whys()) {
    const double factor = what_if.factors[at(row.why)];
    if (factor != 1) items.push_back(fmt::format("{}={}", row.name, factor));
  }
  for (const WhatIf::Kernel& kernel : what_if.kernels) {
    items.push_back(fmt::format("{}{}={}", kKernelPrefix, kernel.part, kernel.factor));
  }
  return join(items, ",");
}

Nanos replay(const Prepared& prepared, const WorkGraph& graph, const WhatIf& what_if) {
  Nanos last = graph.from;
  for (const Nanos end : replayed_ends(prepared, graph, what_if)) last = std::max(last, end);
  return last - graph.from;
}

std::vector<Nanos> replayed_ends(const Prepared& prepared, const WorkGraph& graph,
                                 const WhatIf& what_if) {
  const std::vector<double> kernels = kernel_factors(prepared, what_if);
  std::vector<Nanos> ends(graph.works.size());
  for (std::size_t i = 0; i < graph.works.size(); ++i) {
    const Work& work = graph.works[i];
    const std::span<const Need> needs = graph.needs_of(work);
    Nanos start = needs.empty() ? work.from : graph.from;
    Nanos waited = start;  // Until then, for what a change can take away.
    double left = 1;       // With that factor only such a part of the waiting is left.
    for (const Need& need : needs) {
      const Nanos lag = scaled(need.lag, lag_factor(need, work, what_if.factors));
      const Why why = removable(need, work);
      Nanos& until = why == Why::kUnknown ? start : waited;
      until = std::max(until, ends[need.work] + lag);
      if (why != Why::kUnknown) left = what_if.factors[at(why)];
    }
    if (waited > start) start += scaled(waited - start, left);
    double factor = what_if.factors[at(work.why)];
    if (!kernels.empty() && work.on_device()) {
      factor *= kernels[prepared.trace.device_events[work.event].name];
    }
    ends[i] = start + scaled(work.to - work.from, factor);
  }
  return ends;
}

Measured measured_times(const Prepared& prepared, const WorkGraph& graph) {
  return Spans(prepared, graph).longest();
}

double device_ceiling(const Prepared& prepared, const WorkGraph& graph, const WhatIf& what_if) {
  return Chains(prepared, graph).ceiling(what_if);
}

std::vector<std::string> unknown_kernels(const model::Trace& trace, const WhatIf& what_if) {
  std::set<std::uint32_t> names;
  for (const model::DeviceEvent& event : trace.device_events) names.insert(event.name);
  std::vector<std::string> unknown;
  for (const WhatIf::Kernel& kernel : what_if.kernels) {
    const std::string part = lower(kernel.part);
    const bool known = std::ranges::any_of(names, [&](std::uint32_t name) {
      return lower(trace.names[name]).find(part) != std::string::npos;
    });
    if (!known) unknown.push_back(kernel.part);
  }
  return unknown;
}

Gain gain_of(const Prepared& prepared, const WorkGraph& graph, const WhatIf& what_if) {
  const Measured measured = measured_times(prepared, graph);
  Gain gain;
  for (std::size_t i = 0; i < kWhys; ++i) {
    // Who waits less is earlier at the next wait, which is shortened too: a part of all waiting may
    // save more than that part of it.
    const double factor = what_if.factors[i];
    const bool waits = i == at(Why::kSync) || i == at(Why::kStraggler);
    gain.time += waits && factor < 1 ? measured.times[i]
                                     : scaled(measured.times[i], std::max(0.0, 1 - factor));
  }
  const std::vector<double> kernels = kernel_factors(prepared, what_if);
  std::vector<Interval> spans;
  for (const Work& work : graph.works) {
    if (!work.on_device() || kernels.empty()) continue;
    const double factor = kernels[prepared.trace.device_events[work.event].name];
    if (factor >= 1) continue;
    spans.push_back({work.from, work.from + scaled(work.to - work.from, 1 - factor)});
  }
  gain.time += total(merged(std::move(spans)));
  gain.replayed = replay(prepared, graph, what_if);
  finish(gain, measured, device_ceiling(prepared, graph, what_if), graph.to - graph.from);
  return gain;
}

Gains gains(const Prepared& prepared, const WorkGraph& graph, std::size_t best) {
  const Nanos wall = graph.to - graph.from;
  const Measured measured = measured_times(prepared, graph);
  const Chains chains(prepared, graph);
  std::map<std::array<double, 3>, double> most;  // By what is left of what bounds it.
  const auto remove = [&](Gain& gain) {
    WhatIf what_if;
    what_if.factors[at(gain.first)] = 0;
    if (gain.second != Why::kUnknown) what_if.factors[at(gain.second)] = 0;
    gain.replayed = replay(prepared, graph, what_if);
    const std::array left{what_if.factors[at(Why::kCopy)], what_if.factors[at(Why::kComm)],
                          what_if.factors[at(Why::kStraggler)]};
    if (!most.contains(left)) most[left] = chains.ceiling(what_if);
    finish(gain, measured, most[left], wall);
  };
  Gains found;
  for (const WhyRow& row : whys()) {
    if (row.why == Why::kKernel || row.why == Why::kUnknown) continue;
    // Without devices the operators are the work itself.
    const bool is_work = row.why == Why::kHost || row.why == Why::kLaunch;
    if (is_work && prepared.trace.device_events.empty()) continue;
    Gain gain{.first = row.why, .time = measured.times[at(row.why)]};
    if (gain.time < (measured.wall + Nanos{999}) / 1000 || gain.time == Nanos{}) continue;
    remove(gain);
    found.alone.push_back(gain);
  }
  std::ranges::stable_sort(found.alone, [](const Gain& a, const Gain& b) {
    return std::tie(b.expected, b.ceiling) < std::tie(a.expected, a.ceiling);
  });
  const std::size_t some = std::min(best, found.alone.size());
  for (std::size_t i = 0; i < some; ++i) {
    for (std::size_t j = i + 1; j < some; ++j) {
      const Gain& a = found.alone[i];
      const Gain& b = found.alone[j];
      Gain pair{.first = a.first, .second = b.first, .time = a.time + b.time};
      remove(pair);
      found.pairs.push_back(pair);
    }
  }
  std::ranges::stable_sort(found.pairs, std::ranges::greater{}, &Gain::expected);
  return found;
}

}  // namespace amdahl::profile
