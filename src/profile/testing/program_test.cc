#include "profile/testing/program.h"

#include <map>

#include <gtest/gtest.h>

#include "profile/critical_path.h"
#include "profile/ranks.h"
#include "profile/testing/random_program.h"

namespace amdahl::profile {
namespace {

// A trace with all that the analyses make of it.
struct Analysis {
  explicit Analysis(const model::Trace& trace)
      : prepared(trace),
        joined(ranks(prepared)),
        graph(work_graph(prepared, {joined.joined, joined.shifts})) {}

  Prepared prepared;
  Ranks joined;
  WorkGraph graph;
};

constexpr const char* kChanges[] = {"input=0",
                                    "input=0.5",
                                    "logging=0",
                                    "checkpoint=0",
                                    "gc=0",
                                    "host=0",
                                    "host=0.5",
                                    "host=2",
                                    "launch=0",
                                    "launch=2",
                                    "queue=0",
                                    "sync=0",
                                    "sync=0.5",
                                    "kernel=0.5",
                                    "kernel=2",
                                    "copy=0",
                                    "comm=0",
                                    "comm=2",
                                    "straggler=0",
                                    "straggler=0.5",
                                    "kernel:gemm=0.25",
                                    "input=0,sync=0",
                                    "kernel=0.5,launch=0",
                                    "sync=0,queue=0",
                                    "input=0,logging=0,checkpoint=0,gc=0,host=0"};

void expect_path(const Analysis& of) {
  const CriticalPath path = critical_path(of.prepared, of.graph);
  Nanos until = path.from;
  for (const PathSegment& segment : path.segments) {
    ASSERT_EQ(segment.from, until);
    ASSERT_NE(segment.why, Why::kUnknown);
    until = segment.to;
  }
  ASSERT_EQ(until, path.to);
}

void expect_gaps(const Analysis& of) {
  for (const DeviceGaps& device : gaps(of.prepared)) {
    Nanos sum{};
    for (const Nanos time : device.by_why) sum += time;
    ASSERT_EQ(sum, device.idle);
    ASSERT_EQ(device.busy + device.idle, device.span);
    Nanos pieces{};
    Nanos until = Nanos::min();
    for (const GapPiece& piece : gap_pieces(of.prepared, device.device)) {
      ASSERT_LE(until, piece.from);
      pieces += piece.to - piece.from;
      until = piece.to;
    }
    ASSERT_EQ(pieces, device.idle);
  }
}

// What no real change may beat: of each reason, of each pair, of all that can be typed.
void expect_ceilings(const Program& program, const Analysis& of, Nanos wall) {
  for (const char* text : kChanges) {
    const WhatIf change = *parse_what_if(text);
    const Gain gain = gain_of(of.prepared, of.graph, change);
    const double real = to_seconds(wall) / to_seconds(run(program, change).wall);
    ASSERT_LE(real, gain.ceiling * (1 + 1e-9)) << text;
  }
  const Gains found = gains(of.prepared, of.graph, 6);
  std::vector<Gain> all = found.alone;
  all.insert(all.end(), found.pairs.begin(), found.pairs.end());
  for (const Gain& gain : all) {
    WhatIf change;
    change.factors[at(gain.first)] = 0;
    if (gain.second != Why::kUnknown) change.factors[at(gain.second)] = 0;
    const Nanos changed = run(program, change).wall;
    const double real = to_seconds(wall) / to_seconds(changed);
    ASSERT_LE(real, gain.ceiling * (1 + 1e-9)) << describe(change);
    ASSERT_LE(gain.expected, gain.ceiling) << describe(change);
  }
}

// When the events of each stream end, in their order.
using Ends = std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<Nanos>>;

Ends device_ends(const model::Trace& trace, const std::vector<Nanos>& shifts) {
  Ends ends;
  for (const model::DeviceEvent& event : trace.device_events) {
    const model::TraceStream& stream = trace.streams[event.stream];
    const std::uint32_t source = trace.devices[stream.device].source;
    ends[{source, stream.id}].push_back(event.end() - shifts[source]);
  }
  return ends;
}

Ends replayed_ends(const Analysis& of, const WhatIf& change) {
  const std::vector<Nanos> all = replayed_ends(of.prepared, of.graph, change);
  const model::Trace& trace = of.prepared.trace;
  Ends ends;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Work& work = of.graph.works[i];
    if (!work.on_device() || work.role == WorkRole::kHub) continue;
    const model::TraceStream& stream = trace.streams[work.lane];
    std::vector<Nanos>& of_stream = ends[{trace.devices[stream.device].source, stream.id}];
    // A collective is there twice: as it arrives, and as it is done.
    const bool arrives = i + 1 < all.size() && work.from == work.to && work.why == Why::kComm;
    if (!arrives) of_stream.push_back(all[i]);
  }
  return ends;
}

void expect_exact_ends(const Program& program) {
  const Course course = run(program);
  const Analysis of(course.trace);
  ASSERT_EQ(of.graph.to - of.graph.from, course.wall);
  ASSERT_EQ(replay(of.prepared, of.graph, {}), course.wall);
  ASSERT_NO_FATAL_FAILURE(expect_path(of));
  ASSERT_NO_FATAL_FAILURE(expect_gaps(of));
  for (const char* text : kChanges) {
    SCOPED_TRACE(text);
    const WhatIf change = *parse_what_if(text);
    const Course changed = run(program, change);
    ASSERT_EQ(replayed_ends(of, change), device_ends(changed.trace, of.graph.shifts));
    ASSERT_EQ(replay(of.prepared, of.graph, change), changed.wall);
    const double gained = to_seconds(course.wall) / to_seconds(changed.wall);
    ASSERT_NEAR(gain_of(of.prepared, of.graph, change).expected, gained, 1e-9);
  }
  ASSERT_NO_FATAL_FAILURE(expect_ceilings(program, of, course.wall));
}

// A profiler that does not record which streams were waited for: gains are bounds then.
void expect_bounds(const Program& program) {
  const Course course = run(program, {}, {.syncs = false});
  const Analysis of(course.trace);
  ASSERT_EQ(of.graph.to - of.graph.from, course.wall);
  ASSERT_EQ(replay(of.prepared, of.graph, {}), course.wall);
  ASSERT_NO_FATAL_FAILURE(expect_path(of));
  ASSERT_NO_FATAL_FAILURE(expect_gaps(of));
  ASSERT_NO_FATAL_FAILURE(expect_ceilings(program, of, course.wall));
}

struct Kinds {
  const char* name;
  ProgramKind kind;
  unsigned seeds;
};

constexpr Kinds kKinds[] = {
    {"one rank", {}, 60},
    {"with steps", {.steps = true}, 40},
    {"two threads", {.helper = true, .steps = true}, 40},
    {"three ranks", {.ranks = 3}, 40},
    {"three ranks with steps", {.ranks = 3, .helper = true, .steps = true}, 20},
    {"full queues", {.full_queues = 2}, 4},
};

TEST(Programs, WhatIfIsWhatTheChangedProgramDoes) {
  for (const Kinds& kinds : kKinds) {
    for (unsigned seed = 1; seed <= kinds.seeds; ++seed) {
      SCOPED_TRACE(testing::Message() << kinds.name << ", seed " << seed);
      ProgramKind kind = kinds.kind;
      kind.seed = seed;
      ASSERT_NO_FATAL_FAILURE(expect_exact_ends(random_program(kind)));
    }
  }
}

// Each rank loads while the other computes: the job waits for input all the time, a rank by itself
// only half of it.
TEST(Programs, ACeilingIsNotThatOfOneRank) {
  const auto load = [](int micros) {
    return Act{.why = Why::kInput, .host = std::chrono::microseconds(micros)};
  };
  const auto reduce = [](int number) {
    return Act{.kind = ActKind::kCollective,
               .host = Nanos{2'000},
               .device = Nanos{8'000},
               .stream = 9,
               .event = number};
  };
  const Act wait{.kind = ActKind::kSyncDevice, .host = Nanos{2'000}};
  Program program;
  program.lags = {.launch = Nanos{4'000}, .queue = Nanos{1'000}, .stream_wait = Nanos{1'000}};
  program.ranks.resize(2);
  for (int rank = 0; rank < 2; ++rank) {
    auto& acts = program.ranks[static_cast<std::size_t>(rank)].threads.emplace_back();
    for (int step = 0; step < 8; ++step) {
      acts.push_back(load(step % 2 == rank ? 800 : 8));
      acts.push_back(reduce(step));
      acts.push_back(wait);
    }
  }
  ASSERT_NO_FATAL_FAILURE(expect_exact_ends(program));
  const Course course = run(program);
  const Analysis of(course.trace);
  const Gain gain = gain_of(of.prepared, of.graph, *parse_what_if("input=0"));
  EXPECT_GT(gain.share, 0.95);
  EXPECT_GT(gain.expected, 20);
}

// A stream that was told to wait is on the path, also where the wait is too short to be guessed.
TEST(Programs, ARecordedWaitIsAnEdge) {
  Program program;
  program.lags = {.launch = Nanos{4'000}, .queue = Nanos{1'000}, .stream_wait = Nanos{2'000}};
  const auto launch = [](int stream, int micros, const char* name) {
    return Act{.kind = ActKind::kLaunch,
               .host = Nanos{2'000},
               .device = std::chrono::microseconds(micros),
               .stream = stream,
               .kernel = name};
  };
  program.ranks.push_back({{{{.host = Nanos{10'000}},
                             launch(0, 8, "produce"),
                             {.kind = ActKind::kRecord, .host = Nanos{400}, .stream = 0},
                             {.kind = ActKind::kStreamWait, .host = Nanos{400}, .stream = 1},
                             launch(1, 20, "consume"),
                             {.kind = ActKind::kSyncDevice, .host = Nanos{2'000}}}},
                           Nanos{}});
  const Course course = run(program);
  const Analysis of(course.trace);
  EXPECT_EQ(replay(of.prepared, of.graph, *parse_what_if("kernel:produce=0.5")),
            course.wall - Nanos{4'000});
  const Course blind = run(program, {}, {.syncs = false});
  const Analysis guess(blind.trace);
  EXPECT_EQ(replay(guess.prepared, guess.graph, *parse_what_if("kernel:produce=0.5")), blind.wall);
}

TEST(Programs, CeilingsHoldWhereStreamsAreNotKnown) {
  for (const Kinds& kinds : kKinds) {
    for (unsigned seed = 101; seed <= 100 + kinds.seeds; ++seed) {
      SCOPED_TRACE(testing::Message() << kinds.name << ", seed " << seed);
      ProgramKind kind = kinds.kind;
      kind.seed = seed;
      ASSERT_NO_FATAL_FAILURE(expect_bounds(random_program(kind)));
    }
  }
}

}  // namespace
}  // namespace amdahl::profile
