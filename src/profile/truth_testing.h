// truth_testing.h: properties of a report on any trace, for this room's tests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "profile/trace_report.h"

namespace amdahl::profile {

// How long each thread was inside a named line or event, summed over threads. Lines are written as
// in reports, event names without numbers.
class Inclusive {
 public:
  explicit Inclusive(const Prepared& in) {
    const CodeLines lines(in.trace);
    std::map<std::string, std::map<std::uint32_t, std::vector<Interval>>> spans;
    for (const model::HostEvent& event : in.trace.host_events) {
      const auto put = [&](const std::string& name) {
        if (!name.empty()) spans[name][event.thread].push_back({event.start, event.end()});
      };
      put(std::string(TraceNames::without_number(in.trace.name(event))));
      if (event.kind == model::HostKind::kPython) put(lines.text(event.name));
      for (std::uint32_t at = event.stack; at != model::kNone; at = in.trace.stacks[at].caller) {
        put(lines.text(in.trace.stacks[at].function));
      }
    }
    std::map<std::uint32_t, std::map<std::uint32_t, std::vector<Interval>>> kernels;
    for (const model::DeviceEvent& event : in.trace.device_events) {
      kernels[event.name][event.stream].push_back({event.start, event.end()});
    }
    for (auto& [name, by_thread] : spans) {
      for (auto& [thread, list] : by_thread) times_[name] += total(merged(std::move(list)));
    }
    for (auto& [name, by_stream] : kernels) {
      Nanos& time = times_[std::string(in.trace.names[name])];
      for (auto& [stream, list] : by_stream) time += total(merged(std::move(list)));
    }
  }

  Nanos of(const std::string& name) const {
    const auto found = times_.find(name);
    return found == times_.end() ? Nanos{} : found->second;
  }

 private:
  std::map<std::string, Nanos> times_;
};

inline bool names_an_event(const std::string& what) {
  return what != "between operators" && what != "nothing recorded" && !what.starts_with("before ");
}

// No line and no function is charged with more than the time it ran.
template <class Places>
void expect_charged_at_most(const Inclusive& ran, const Places& places, const char* of) {
  std::map<std::string, Nanos> lines;
  std::map<std::string, Nanos> names;
  for (const auto& place : places) {
    if (!place.line.empty()) lines[place.line] += place.time;
    if (names_an_event(place.what)) names[place.what] += place.time;
  }
  for (const auto& [line, time] : lines) EXPECT_LE(time, ran.of(line)) << of << ": " << line;
  for (const auto& [name, time] : names) EXPECT_LE(time, ran.of(name)) << of << ": " << name;
}

// Parts sum to the whole, and the replay gains no more than the ceiling.
inline void expect_sums_and_ceilings_hold(const Prepared& in, const TraceReport& got) {
  Nanos path{};
  for (const Nanos time : got.path.by_why) path += time;
  EXPECT_EQ(path, got.wall);
  for (const DeviceRow& row : got.devices) {
    Nanos idle{};
    for (const Nanos time : row.gaps.by_why) idle += time;
    EXPECT_EQ(idle, row.split.idle);
    EXPECT_EQ(row.split.busy + row.split.idle, row.split.span);
    EXPECT_EQ(row.split.compute + row.split.exposed_communication + row.split.exposed_memory,
              row.split.busy);
  }
  const WorkGraph graph = work_graph(in, {got.ranks.joined, got.ranks.shifts});
  for (const Gain& gain : got.gains.alone) {
    const double gained = to_seconds(got.wall) / to_seconds(gain.replayed);
    EXPECT_LE(gain.replayed, got.wall) << name(gain.first);
    // Beyond what devices allow is what they would do concurrently; nobody claims that.
    WhatIf without;
    without.factors[at(gain.first)] = 0;
    EXPECT_LE(std::min(gained, device_ceiling(in, graph, without)), gain.ceiling * (1 + 1e-9))
        << name(gain.first);
    EXPECT_LE(gain.expected, gain.ceiling) << name(gain.first);
  }
  for (const model::Cause& cause : got.profile.causes) {
    for (const Gain& gain : got.gains.alone) {
      if (describe(gain.first) == cause.name) {
        EXPECT_EQ(cause.ceiling, gain.ceiling) << cause.name;
      }
    }
    if (is_unexplained(cause)) {
      EXPECT_EQ(cause.ceiling, 1) << "nothing is known of it";
    }
  }
}

inline void expect_charges_hold(const Prepared& in, const TraceReport& got) {
  const Inclusive ran(in);
  for (const DeviceRow& row : got.devices) {
    expect_charged_at_most(ran, row.gaps.places, "idle");
  }
  expect_charged_at_most(ran, got.path.shares, "path");
}

}  // namespace amdahl::profile
