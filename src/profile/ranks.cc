#include "profile/ranks.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/busy.h"
#include "profile/communication.h"

namespace amdahl::profile {
namespace {

using model::DeviceEvent;
using model::kNone;

// A rank is called the straggler if it comes last this often and makes others wait this long.
constexpr double kOftenLast = 0.5;
constexpr double kShareOfSpan = 0.01;
// Of the joined collectives so many must overlap in time, or the clocks are not to be trusted.
constexpr double kOverlapping = 0.8;

// The same on all ranks that take part.
struct CollectiveKey {
  std::int64_t step = -1;
  std::uint32_t name = 0;  // Of the collective, else of the kernel.
  std::uint32_t group = 0;
  std::uint64_t elements = 0;
  auto operator<=>(const CollectiveKey&) const = default;
};

class Join {
 public:
  Join(const Prepared& prepared, Ranks& found) : in_{prepared}, found_{found} {}

  void run() {
    found_.shifts.assign(in_.trace.sources.size(), Nanos{});
    collect();
    if (sources_ < 2) {
      found_.note = sources_ == 0 ? "no communication on a device" : "only one rank was given";
      return;
    }
    if (groups_.empty()) {
      found_.note = "the ranks have no collective in common";
      return;
    }
    align();
    check();
    if (found_.note.empty()) describe();
  }

  std::uint64_t unmatched() const { return unmatched_; }

 private:
  std::uint32_t source_of(const DeviceEvent& event) const {
    return in_.trace.devices[in_.trace.streams[event.stream].device].source;
  }
  Nanos start_of(std::uint32_t event) const {
    const DeviceEvent& of = in_.trace.device_events[event];
    return of.start - found_.shifts[source_of(of)];
  }
  Nanos end_of(std::uint32_t event) const {
    return start_of(event) + in_.trace.device_events[event].duration;
  }

  std::int64_t step_of(const DeviceEvent& event, std::uint32_t source) const {
    const Nanos at =
        event.launch == kNone ? event.start : in_.trace.host_events[event.launch].start;
    const std::vector<model::Step>& steps = steps_[source];
    const auto after = std::ranges::upper_bound(steps, at, {}, &model::Step::start);
    if (after == steps.begin()) return -1;
    const model::Step& step = *(after - 1);
    return at < step.start + step.duration ? step.number : -1;
  }

  // The n-th collective of a kind within a step is the same one on every rank.
  void collect() {
    steps_.resize(in_.trace.sources.size());
    for (const model::Step& step : in_.trace.steps) {
      steps_[in_.trace.processes[in_.trace.threads[step.thread].process].source].push_back(step);
    }
    for (auto& steps : steps_) std::ranges::stable_sort(steps, {}, &model::Step::start);
    std::map<std::pair<CollectiveKey, std::uint32_t>, std::uint32_t> counts;  // By source.
    std::map<std::pair<CollectiveKey, std::uint32_t>, std::vector<std::uint32_t>> joined;
    std::vector<bool> seen(in_.trace.sources.size(), false);
    for (std::uint32_t i = 0; i < in_.trace.device_events.size(); ++i) {
      const DeviceEvent& event = in_.trace.device_events[i];
      if (!keeps_busy(event) || !in_.names.is_communication(event)) continue;
      const std::uint32_t source = source_of(event);
      if (!seen[source]) ++sources_;
      seen[source] = true;
      CollectiveKey key{step_of(event, source), event.name, 0, 0};
      if (event.detail != kNone) {
        const model::DeviceDetail& detail = in_.trace.details[event.detail];
        if (detail.collective != 0) key.name = detail.collective;
        key.group = detail.group;
        key.elements = detail.elements;
      }
      joined[{key, counts[{key, source}]++}].push_back(i);
    }
    for (auto& [key, events] : joined) {
      if (events.size() < 2) {
        ++unmatched_;
      } else {
        groups_.push_back({key.first.name, std::move(events)});
      }
    }
  }

  // Ranks leave a collective together: the middle difference of their ends is that of the clocks.
  void align() {
    std::uint32_t first = kNone;
    for (const Group& group : groups_) {
      first = std::min(first, source_of(in_.trace.device_events[group.events.front()]));
    }
    std::vector<std::vector<Nanos>> differences(in_.trace.sources.size());
    for (const Group& group : groups_) {
      const std::uint32_t base = group.events.front();
      if (source_of(in_.trace.device_events[base]) != first) continue;
      for (const std::uint32_t event : group.events) {
        const DeviceEvent& of = in_.trace.device_events[event];
        differences[source_of(of)].push_back(of.end() - in_.trace.device_events[base].end());
      }
    }
    for (std::size_t i = 0; i < differences.size(); ++i) {
      found_.shifts[i] = median(std::move(differences[i]));
    }
  }

  // A collective cannot end on one rank before all ranks have started it.
  void check() {
    std::size_t good = 0;
    for (const Group& group : groups_) good += overlaps(group) ? 1 : 0;
    if (static_cast<double>(good) >= kOverlapping * static_cast<double>(groups_.size())) return;
    found_.note = fmt::format(
        "only {} of {} collectives that the ranks share overlap in time: the files cover different "
        "steps, or the clocks drift",
        good, groups_.size());
    found_.clocks_disagree = true;
    found_.shifts.assign(in_.trace.sources.size(), Nanos{});
  }

  struct Group {
    std::uint32_t name = 0;
    std::vector<std::uint32_t> events;
  };

  bool overlaps(const Group& group) const {
    Nanos last_start = Nanos::min();
    Nanos first_end = Nanos::max();
    for (const std::uint32_t event : group.events) {
      last_start = std::max(last_start, start_of(event));
      first_end = std::min(first_end, end_of(event));
    }
    return last_start < first_end;
  }

  // When each source's first event began, on the common clock.
  void find_begins() {
    begins_.assign(in_.trace.sources.size(), Nanos::max());
    const auto add = [&](std::uint32_t source, Nanos start) {
      begins_[source] = std::min(begins_[source], start - found_.shifts[source]);
    };
    for (const DeviceEvent& event : in_.trace.device_events) {
      if (keeps_busy(event)) add(source_of(event), event.start);
    }
    for (const model::HostEvent& event : in_.trace.host_events) {
      add(in_.trace.processes[in_.trace.threads[event.thread].process].source, event.start);
    }
  }

  void describe() {
    find_begins();
    std::map<std::uint32_t, std::vector<const Group*>> by_name;
    for (const Group& group : groups_) {
      if (!overlaps(group)) continue;
      by_name[group.name].push_back(&group);
      found_.joined.push_back({group.events});
    }
    for (const auto& [name, same] : by_name) {
      CollectiveFacts facts;
      facts.name = std::string(in_.trace.names[name]);
      std::vector<Nanos> skews;
      for (const Group* group : same) skews.push_back(add(*group, facts));
      facts.skew_longest = *std::ranges::max_element(skews);
      facts.skew_median = median(std::move(skews));
      found_.collectives.push_back(std::move(facts));
    }
    std::ranges::stable_sort(found_.collectives, std::ranges::greater{}, &CollectiveFacts::waited);
  }

  RankFacts& rank_of(std::uint32_t event) const {
    const std::uint32_t source = source_of(in_.trace.device_events[event]);
    return *std::ranges::find(found_.ranks, source, &RankFacts::source);
  }

  Nanos add(const Group& group, CollectiveFacts& facts) const {
    std::vector<std::uint32_t> order = group.events;
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return start_of(i); });
    const Nanos last = start_of(order.back());
    Nanos first_end = Nanos::max();
    // What the last one did before its file begins, nobody knows: perhaps the same as the others.
    const Nanos begun = std::min(last, begins_[source_of(in_.trace.device_events[order.back()])]);
    for (const std::uint32_t event : order) {
      first_end = std::min(first_end, end_of(event));
      const Nanos waited = last - std::max(start_of(event), begun);
      facts.waited += waited;
      rank_of(event).waited += waited;
      rank_of(event).unseen += last - start_of(event) - waited;
    }
    rank_of(order.back()).made_wait += last - std::max(start_of(order[order.size() - 2]), begun);
    ++rank_of(order.back()).last;
    ++facts.times;
    facts.ranks = std::max(facts.ranks, static_cast<std::uint32_t>(order.size()));
    facts.transfer += first_end - last;
    return last - start_of(order.front());
  }

  const Prepared& in_;
  Ranks& found_;
  std::vector<std::vector<model::Step>> steps_;  // By source.
  std::vector<Group> groups_;
  std::vector<Nanos> begins_;  // By source.
  std::uint64_t unmatched_ = 0;
  std::size_t sources_ = 0;
};

void add_exposure(const Prepared& in, Ranks& found) {
  for (RankFacts& rank : found.ranks) {
    for (std::uint32_t device = 0; device < in.trace.devices.size(); ++device) {
      if (in.trace.devices[device].source != rank.source) continue;
      std::vector<Interval> communication;
      std::vector<Interval> compute;
      for (const std::uint32_t i : in.devices.of_device(device)) {
        const DeviceEvent& event = in.trace.device_events[i];
        const Why why = in.names.device(event);
        if (why == Why::kComm) communication.push_back({event.start, event.end()});
        if (why == Why::kKernel) compute.push_back({event.start, event.end()});
      }
      communication = merged(std::move(communication));
      compute = merged(std::move(compute));
      rank.communication += total(communication);
      rank.exposed += total(communication) - overlap(communication, compute);
    }
  }
}

void add_kernels(const Prepared& in, Ranks& found) {
  std::map<std::string_view, LibraryTime> libraries;
  for (const DeviceEvent& event : in.trace.device_events) {
    if (!keeps_busy(event)) continue;
    const bool node =
        (event.detail != kNone && in.trace.details[event.detail].graph_node != 0) ||
        (event.launch != kNone && in.names.is_graph(in.trace.host_events[event.launch]));
    if (node && event.kind == model::DeviceKind::kKernel) {
      ++found.graph_kernels;
      found.graph_time += event.duration;
    }
    if (!in.names.is_communication(event)) continue;
    const std::string_view library = communication_library(in.trace.name(event));
    LibraryTime& sum = libraries[library];
    sum.library = std::string(library);
    sum.time += event.duration;
    ++sum.kernels;
  }
  for (auto& [name, sum] : libraries) found.libraries.push_back(std::move(sum));
  std::ranges::stable_sort(found.libraries, std::ranges::greater{}, &LibraryTime::time);
}

void find_straggler(const Prepared& in, Ranks& found) {
  std::uint64_t all = 0;
  for (const RankFacts& rank : found.ranks) all += rank.last;
  if (all == 0 || in.trace.device_events.empty()) return;
  Nanos end = Nanos::min();
  for (const DeviceEvent& event : in.trace.device_events) end = std::max(end, event.end());
  const Nanos span = end - in.trace.device_events.front().start;
  for (std::uint32_t i = 0; i < found.ranks.size(); ++i) {
    const RankFacts& rank = found.ranks[i];
    if (static_cast<double>(rank.last) < kOftenLast * static_cast<double>(all)) continue;
    if (to_seconds(rank.made_wait) < kShareOfSpan * to_seconds(span)) continue;
    found.straggler = i;
  }
}

}  // namespace

Ranks ranks(const Prepared& prepared) {
  Ranks found;
  std::vector<bool> has_device(prepared.trace.sources.size(), false);
  for (std::uint32_t device = 0; device < prepared.trace.devices.size(); ++device) {
    if (prepared.devices.of_device(device).empty()) continue;
    has_device[prepared.trace.devices[device].source] = true;
  }
  for (std::uint32_t source = 0; source < has_device.size(); ++source) {
    if (!has_device[source]) continue;
    RankFacts rank;
    rank.source = source;
    rank.rank = prepared.trace.sources[source].rank;
    found.ranks.push_back(rank);
  }
  Join join(prepared, found);
  join.run();
  found.unmatched = join.unmatched();
  for (RankFacts& rank : found.ranks) rank.shift = found.shifts[rank.source];
  add_exposure(prepared, found);
  add_kernels(prepared, found);
  find_straggler(prepared, found);
  return found;
}

}  // namespace amdahl::profile
