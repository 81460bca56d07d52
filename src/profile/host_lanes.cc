#include "profile/host_lanes.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/busy.h"

namespace amdahl::profile {
namespace {

using model::HostEvent;
using model::HostKind;
using model::kNone;
using std::string_view_literals::operator""sv;

Nanos time_of(const model::Trace& trace, const StoredTurn& turn) {
  return turn.ended == kNone ? trace.host_events[turn.event].start
                             : trace.host_events[turn.ended].end();
}

// The turns of one thread from its events in order of start. Where events overlap without one
// holding the other, the one that started last counts.
class Flatten {
 public:
  Flatten(const model::Trace& trace, std::vector<StoredTurn>& turns)
      : trace_{trace}, turns_{turns} {}

  void add(std::uint32_t event) {
    const Nanos start = trace_.host_events[event].start;
    close_until(start);
    open_.push_back(event);
    turn(start, {event, kNone});
  }

  // What comes next is another thread.
  void finish() {
    close_until(Nanos::max());
    first_ = turns_.size();
  }

 private:
  void turn(Nanos at, StoredTurn next) {
    const bool any = turns_.size() > first_;
    if (any && last_ == at) {
      turns_.back() = next;
    } else if (!any || turns_.back().event != next.event) {
      turns_.push_back(next);
      last_ = at;
    }
  }

  void close_until(Nanos time) {
    while (!open_.empty()) {
      const std::uint32_t ended = open_.back();
      const Nanos end = trace_.host_events[ended].end();
      if (end > time) return;
      open_.pop_back();
      while (!open_.empty() && trace_.host_events[open_.back()].end() <= end) open_.pop_back();
      turn(end, {open_.empty() ? kNone : open_.back(), ended});
    }
  }

  const model::Trace& trace_;
  std::vector<StoredTurn>& turns_;
  std::size_t first_ = 0;  // Of this thread.
  Nanos last_{};           // When its last turn is.
  std::vector<std::uint32_t> open_;
};

constexpr auto kLibraries =
    std::to_array({"site-packages/"sv, "dist-packages/"sv, "/lib/python"sv, "<frozen"sv,
                   "<built-in"sv, "torch/"sv, "contextlib.py("sv, "<string>("sv, "runpy.py("sv});

// Packages that do small things for any job: their lines tell something only where no others are
// shown.
constexpr auto kPackages = std::to_array(
    {"numpy/"sv, "scipy/"sv, "pandas/"sv, "PIL/"sv, "cv2/"sv, "triton/"sv, "torchinductor"sv,
     "torchvision/"sv, "threading.py("sv, "multiprocessing/"sv, "concurrent/"sv, "asyncio/"sv});

// "train.py(42): main" as "train.py:42 (main)"; empty if it is not of that form, or a library's.
std::string user_frame(std::string_view frame) {
  for (const std::string_view library : kLibraries) {
    if (contains(frame, library)) return {};
  }
  const std::size_t open = frame.find(".py("sv);
  if (open == std::string_view::npos) return {};
  const std::size_t number = open + 4;
  const std::size_t close = frame.find("): "sv, number);
  if (close == std::string_view::npos) return {};
  return fmt::format("{}:{} ({})", frame.substr(0, open + 3), frame.substr(number, close - number),
                     frame.substr(close + 3));
}

int rank_of(Why why) {
  switch (why) {
    case Why::kInput:
    case Why::kCheckpoint:
    case Why::kLogging:
    case Why::kGc:
    case Why::kComm:
    case Why::kProfiler:
    case Why::kWarmup:
      return 3;
    case Why::kSync:
      return 2;
    case Why::kLaunch:
      return 1;
    default:
      return 0;
  }
}

// Calls that take this long, and so many times as long as launches usually do, load something.
constexpr Nanos kLoading{1'000'000};
constexpr int kLongerThanUsual = 20;
// Of so few launches nobody knows what is usual.
constexpr std::size_t kFewLaunches = 4;

// The call of the runtime around one of the driver.
std::uint32_t outermost_call(const model::Trace& trace, std::uint32_t call) {
  for (int levels = 0; levels < kDeepest; ++levels) {
    const std::uint32_t around = trace.host_events[call].parent;
    if (around == kNone || !is_call(trace.host_events[around])) break;
    call = around;
  }
  return call;
}

Nanos loading_from(const model::Trace& trace, const TraceNames& names) {
  std::vector<Nanos> launches;
  for (const HostEvent& event : trace.host_events) {
    if (names.api(event) == Api::kLaunch) launches.push_back(event.duration);
  }
  if (launches.size() < kFewLaunches) return kLoading;
  const auto usual = launches.begin() + static_cast<std::ptrdiff_t>(launches.size() / 4);
  std::ranges::nth_element(launches, usual);
  return std::max(kLoading, std::min(*usual, kLoading) * kLongerThanUsual);
}

// Calls whose first use may make a context or load a library.
bool may_load(const model::Trace& trace, const TraceNames& names, const HostEvent& event) {
  const Api api = names.api(event);
  const std::string_view name = trace.name(event);
  return is_call(event) && (api == Api::kOther || api == Api::kFree) &&
         (name.starts_with("cuda"sv) || name.starts_with("hip"sv));
}

// The first launch of each kernel, and the first of each call that neither launches nor waits, in
// each process, where they take long. Host events are in order of start.
std::vector<std::uint32_t> first_uses(const model::Trace& trace, const TraceNames& names) {
  const Nanos least = loading_from(trace, names);
  const auto key_of = [&](std::uint32_t call, std::uint32_t name) {
    const std::uint32_t process = trace.threads[trace.host_events[call].thread].process;
    return std::uint64_t{process} << 32 | name;
  };
  std::unordered_map<std::uint64_t, std::uint32_t> firsts;
  for (const model::DeviceEvent& event : trace.device_events) {
    if (event.launch == kNone || event.kind != model::DeviceKind::kKernel) continue;
    const auto [first, is_new] = firsts.try_emplace(key_of(event.launch, event.name), event.launch);
    if (!is_new) first->second = std::min(first->second, event.launch);
  }
  std::unordered_map<std::uint64_t, std::uint32_t> calls;
  for (std::uint32_t i = 0; i < trace.host_events.size(); ++i) {
    if (!may_load(trace, names, trace.host_events[i])) continue;
    calls.try_emplace(key_of(i, trace.host_events[i].name), i);
  }
  std::vector<std::uint32_t> found;
  for (const auto* const uses : {&firsts, &calls}) {
    for (const auto& [key, call] : *uses) {
      const std::uint32_t outer = outermost_call(trace, call);
      const HostEvent& event = trace.host_events[outer];
      const bool launches = names.api(event) == Api::kLaunch;
      if (event.duration < least || !(launches || may_load(trace, names, event))) continue;
      found.push_back(outer);
    }
  }
  return found;
}

// What a thread does while it captures a graph runs once, before the steps that use the graph.
// Captures whose end is not recorded are not counted.
std::vector<std::uint32_t> captured(const model::Trace& trace) {
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> open;  // By thread.
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < trace.host_events.size(); ++i) {
    const HostEvent& event = trace.host_events[i];
    const bool calls = is_call(event);
    if (calls && contains(trace.name(event), "StreamBeginCapture"sv)) open[event.thread].clear();
    const auto capture = open.find(event.thread);
    if (capture == open.end()) continue;
    capture->second.push_back(i);
    if (!calls || !contains(trace.name(event), "StreamEndCapture"sv)) continue;
    found.insert(found.end(), capture->second.begin(), capture->second.end());
    open.erase(capture);
  }
  return found;
}

}  // namespace

HostLanes::HostLanes(const model::Trace& trace) : trace_{trace} {
  const std::size_t threads = trace.threads.size();
  std::vector<std::size_t> counts(threads + 1, 0);
  for (const HostEvent& event : trace.host_events) ++counts[event.thread + 1];
  for (std::size_t i = 1; i <= threads; ++i) counts[i] += counts[i - 1];
  std::vector<std::uint32_t> order(trace.host_events.size());
  std::vector<std::size_t> next(counts.begin(), counts.end() - 1);
  for (std::uint32_t i = 0; i < trace.host_events.size(); ++i) {
    order[next[trace.host_events[i].thread]++] = i;
  }
  firsts_.push_back(0);
  turns_.reserve(trace.host_events.size() * 2);  // What is not written to takes no memory.
  Flatten flatten(trace, turns_);
  for (std::size_t thread = 0; thread < threads; ++thread) {
    for (std::size_t i = counts[thread]; i < counts[thread + 1]; ++i) flatten.add(order[i]);
    flatten.finish();
    firsts_.push_back(turns_.size());
  }
}

Turns HostLanes::of(std::uint32_t thread) const {
  const std::size_t first = firsts_[thread];
  return {std::span(turns_).subspan(first, firsts_[thread + 1] - first), trace_};
}

Nanos Turns::at(std::size_t i) const { return time_of(*trace_, stored_[i]); }

std::size_t Turns::holding(Nanos at) const {
  const auto after = std::ranges::upper_bound(
      stored_, at, {}, [&](const StoredTurn& turn) { return time_of(*trace_, turn); });
  return after == stored_.begin() ? 0 : static_cast<std::size_t>(after - stored_.begin() - 1);
}

HostReasons::HostReasons(const model::Trace& trace, const TraceNames& names) {
  reasons_.assign(trace.host_events.size(), Why::kHost);
  for (const std::uint32_t call : first_uses(trace, names)) reasons_[call] = Why::kWarmup;
  for (const std::uint32_t event : captured(trace)) reasons_[event] = Why::kWarmup;
  for (std::size_t i = 0; i < trace.host_events.size(); ++i) {
    const HostEvent& event = trace.host_events[i];
    Why why = reasons_[i] == Why::kWarmup ? Why::kWarmup : names.host(event);
    // A parent always comes first, so that its answer holds all that is around it.
    if (event.parent != kNone && rank_of(reasons_[event.parent]) >= rank_of(why)) {
      // Of two named reasons the inner one knows better; launching inside a wait is the wait.
      const Why outer = reasons_[event.parent];
      if (rank_of(outer) > rank_of(why)) why = outer;
    }
    reasons_[i] = why;
  }
}

CodeLines::CodeLines(const model::Trace& trace)
    : trace_{trace}, known_(trace.names.size(), kNotLookedAt) {}

CodeLines::Kind CodeLines::kind(std::uint32_t name) const {
  if (known_[name] != kNotLookedAt) return known_[name];
  const std::string_view frame = trace_.names[name];
  const auto holds = [&](std::string_view package) { return contains(frame, package); };
  known_[name] = user_frame(frame).empty()               ? kNoLine
                 : std::ranges::any_of(kPackages, holds) ? kPackage
                                                         : kOwn;
  return known_[name];
}

std::uint32_t CodeLines::frame(std::uint32_t host_event) const {
  std::uint32_t otherwise = kNone;
  int levels = 0;
  for (std::uint32_t at = host_event; at != kNone && levels < kDeepest;
       at = trace_.host_events[at].parent, ++levels) {
    const HostEvent& event = trace_.host_events[at];
    if (event.kind == HostKind::kPython) {
      if (is_own(event.name)) return event.name;
      if (otherwise == kNone && kind(event.name) == kPackage) otherwise = event.name;
    }
    for (std::uint32_t frame = event.stack; frame != kNone; frame = trace_.stacks[frame].caller) {
      const std::uint32_t function = trace_.stacks[frame].function;
      if (is_own(function)) return function;
      if (otherwise == kNone && kind(function) == kPackage) otherwise = function;
    }
  }
  return otherwise;
}

std::string CodeLines::text(std::uint32_t frame) const {
  return frame == kNone ? std::string() : user_frame(trace_.names[frame]);
}

OuterWork::OuterWork(const model::Trace& trace, const TraceNames& names)
    : works_(trace.host_events.size(), kNone) {
  for (std::uint32_t i = 0; i < works_.size(); ++i) {
    const HostEvent& event = trace.host_events[i];
    // A parent always comes first.
    if (event.parent != kNone) works_[i] = works_[event.parent];
    if (works_[i] == kNone && !names.is_silent(event)) works_[i] = i;
  }
}

}  // namespace amdahl::profile
