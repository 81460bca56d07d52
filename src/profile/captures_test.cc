#include "profile/captures.h"

#include <gtest/gtest.h>

#include "profile/trace_report.h"
#include "profile/trace_testing.h"
#include "profile/what_if.h"

namespace amdahl::profile {
namespace {

using std::chrono::microseconds;

struct File {
  std::int32_t rank = -1;
  std::int64_t process = 100;
  std::int64_t at = 0;  // Microseconds.
};

// Each file: 300 µs of input, a launch, 100 µs of a kernel, and the wait for it.
model::Trace made(std::initializer_list<File> files) {
  model::TraceBuilder builder;
  std::uint32_t correlation = 0;
  for (const File& file : files) {
    const std::uint32_t source = builder.source(
        {.format = "made", .host = "a", .rank = file.rank, .clock = model::Clock::kUnix});
    const std::uint32_t thread = builder.thread(builder.process(source, file.process), 1);
    const std::uint32_t stream = builder.stream(builder.device(source, 0), model::kNone, 7);
    const auto host = [&](const char* name, std::int64_t start, std::int64_t duration,
                          model::HostKind kind, std::uint32_t id) {
      builder.trace().host_events.push_back({.start = microseconds(file.at + start),
                                             .duration = microseconds(duration),
                                             .name = builder.intern(name),
                                             .thread = thread,
                                             .correlation = id,
                                             .kind = kind});
    };
    host("enumerate(DataLoader)#next", 0, 300, model::HostKind::kOp, 0);
    host("cudaLaunchKernel", 300, 10, model::HostKind::kRuntime, ++correlation);
    builder.trace().device_events.push_back({.start = microseconds(file.at + 310),
                                             .duration = microseconds(100),
                                             .name = builder.intern("gemm"),
                                             .stream = stream,
                                             .correlation = correlation});
    host("cudaDeviceSynchronize", 310, 100, model::HostKind::kRuntime, ++correlation);
  }
  return std::move(builder).finish();
}

Gain without_input(const model::Trace& trace) {
  const Prepared prepared(trace);
  WhatIf what_if;
  what_if.factors[at(Why::kInput)] = 0;
  return gain_of(prepared, work_graph(prepared), what_if);
}

TEST(Captures, ASeriesOfOneProcessIsAsIfTheProfilerHadNeverPaused) {
  model::Trace trace = made({{.at = 0}, {.at = 60'000'000}});
  const Captures captures = lay_end_to_end(trace);
  EXPECT_EQ(captures.count, 2u);
  EXPECT_EQ(captures.left_out, microseconds(60'000'000 - 410));
  ASSERT_EQ(trace.device_events.size(), 2u);
  EXPECT_EQ(trace.device_events[1].start, microseconds(410 + 310));
  EXPECT_EQ(trace.device_events[0].stream, trace.device_events[1].stream);
  EXPECT_EQ(trace.host_events[0].thread, trace.host_events[3].thread);
  // Of 820 µs 600 go, in both captures alike.
  EXPECT_EQ(without_input(trace).replayed, microseconds(220));
}

TEST(Captures, OtherFilesStayWhereTheyAre) {
  struct Case {
    const char* name;
    std::initializer_list<File> files;
  };
  const Case cases[] = {
      {"one file", {{.at = 0}}},
      {"ranks at the same time", {{.rank = 0, .at = 0}, {.rank = 1, .at = 200}}},
      {"ranks whose clocks differ", {{.rank = 0, .at = 0}, {.rank = 1, .at = 1'000'000}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    model::Trace trace = made(c.files);
    const model::Trace before = made(c.files);
    EXPECT_EQ(lay_end_to_end(trace).count, 1u);
    for (std::size_t i = 0; i < trace.device_events.size(); ++i) {
      EXPECT_EQ(trace.device_events[i].start, before.device_events[i].start);
      EXPECT_EQ(trace.device_events[i].stream, before.device_events[i].stream);
    }
  }
}

// The path and what-ifs go through both, one after the other, and not through the time between.
TEST(Captures, TwoRunsAreLaidEndToEndAndStayApart) {
  model::Trace trace = made({{.process = 100, .at = 0}, {.process = 200, .at = 60'000'000}});
  const Captures captures = lay_end_to_end(trace);
  EXPECT_EQ(captures.count, 2u);
  EXPECT_FALSE(captures.is_series);
  ASSERT_EQ(captures.cuts, std::vector<Nanos>{microseconds(410)});
  EXPECT_NE(trace.device_events[0].stream, trace.device_events[1].stream);
  const TraceReport got = report(Prepared(trace), {*parse_what_if("input=0"), captures.cuts});
  EXPECT_EQ(got.wall, microseconds(820));
  EXPECT_EQ(got.path.by_why[at(Why::kInput)], microseconds(600));
  EXPECT_EQ(got.path.by_why[at(Why::kUnknown)], Nanos{});
  EXPECT_EQ(got.answer->replayed, microseconds(220));
}

TEST(Captures, RanksOfASeriesStayApart) {
  model::Trace trace = made({{.rank = 0, .process = 1, .at = 0},
                             {.rank = 1, .process = 2, .at = 5},
                             {.rank = 0, .process = 1, .at = 9000},
                             {.rank = 1, .process = 2, .at = 9005}});
  EXPECT_EQ(lay_end_to_end(trace).count, 2u);
  ASSERT_EQ(trace.device_events.size(), 4u);
  EXPECT_EQ(trace.device_events[0].stream, trace.device_events[2].stream);
  EXPECT_EQ(trace.device_events[1].stream, trace.device_events[3].stream);
  EXPECT_NE(trace.device_events[0].stream, trace.device_events[1].stream);
  EXPECT_EQ(trace.device_events[2].start, microseconds(415 + 310));
}

}  // namespace
}  // namespace amdahl::profile
