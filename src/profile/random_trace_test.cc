#include <random>

#include <gtest/gtest.h>

#include "profile/page.h"
#include "profile/trace_report.h"
#include "profile/trace_testing.h"
#include "profile/truth_testing.h"

namespace amdahl::profile {
namespace {

constexpr const char* kNames[] = {"aten::mm",
                                  "ProfilerStep#3",
                                  "save_checkpoint",
                                  "aten::item",
                                  "enumerate(DataLoader)#x.__next__",
                                  "gc.collect",
                                  "log metrics"};
constexpr const char* kFrames[] = {"train.py(42): main", "train.py(7): step",
                                   "model.py(3): forward",
                                   "torch/nn/modules/module.py(1501): _call_impl"};
constexpr const char* kCalls[] = {
    "cudaLaunchKernel", "cudaStreamSynchronize", "cudaMemcpyAsync", "cudaDeviceSynchronize",
    "cudaGraphLaunch",  "cudaEventQuery",        "cudaMemcpy",      "cudaFree"};

// Anything goes: events overlap, nest or are empty, launches come after what they launched.
model::Trace random_trace(unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&](int most) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(most));
  };
  MadeTrace made;
  std::vector<std::uint32_t> calls{0};
  const auto ranks = pick(3);
  for (std::int64_t rank = 0; rank <= ranks; ++rank) {
    if (rank > 0) made.next_rank();
    for (auto events = pick(120); events > 0; --events) {
      made.on_thread(pick(4));
      switch (pick(6)) {
        case 0:
          made.op(kNames[pick(7)], pick(2000), pick(300));
          break;
        case 1:
          made.annotation(kNames[pick(7)], pick(2000), pick(900));
          break;
        case 2:
          made.python(kFrames[pick(4)], pick(2000), pick(700));
          break;
        case 3:
          calls.push_back(made.call(kCalls[pick(8)], pick(2000), pick(200)));
          break;
        default:
          made.on_stream(pick(3));
          made.kernel(pick(2000), pick(150),
                      calls[static_cast<std::size_t>(pick(1000)) % calls.size()],
                      pick(4) == 0 ? "ncclKernel_AllReduce" : "gemm");
      }
    }
  }
  return made.finish();
}

void expect_exact(const model::Trace& trace) {
  const Prepared prepared(trace);
  const TraceReport got = report(prepared, {*parse_what_if("input=0,sync=0.5")});
  Nanos at_time = got.path.from;
  for (const PathSegment& segment : got.path.segments) {
    ASSERT_EQ(segment.from, at_time);
    ASSERT_LT(segment.from, segment.to);
    at_time = segment.to;
  }
  ASSERT_EQ(at_time, got.path.to);
  for (const DeviceRow& row : got.devices) {
    ASSERT_EQ(row.gaps.idle, row.split.idle);
    ASSERT_EQ(row.gaps.span, row.split.span);
  }
  const WorkGraph graph = work_graph(prepared, {got.ranks.joined, got.ranks.shifts});
  ASSERT_EQ(replay(prepared, graph, {}), got.wall);
  for (std::uint32_t i = 0; i < graph.works.size(); ++i) {
    for (const Need& need : graph.needs_of(graph.works[i])) ASSERT_LT(need.work, i);
  }
  expect_charges_hold(prepared, got);
  expect_sums_and_ceilings_hold(prepared, got);
  // Nothing of a page may depend on a name being harmless, or on there being anything at all.
  ASSERT_FALSE(draw(got, 80, false).empty());
  ASSERT_NE(html(got, boxes(prepared, got.path, got.ranks.shifts, 50)).find("</html>"),
            std::string::npos);
}

TEST(RandomTraces, SumsAndReplaysAreExact) {
  for (unsigned seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    ASSERT_NO_FATAL_FAILURE(expect_exact(random_trace(seed)));
  }
}

// A file may say anything: sums of its times must not overflow (the sanitizers look).
TEST(RandomTraces, MayBeDecadesLong) {
  constexpr Nanos kDecades{1'700'000'000'000'000'000};
  model::TraceBuilder builder;
  const std::uint32_t source = builder.source({.file = "a"});
  const std::uint32_t stream = builder.stream(builder.device(source, 0), model::kNone, 7);
  for (const std::int64_t id : {1, 2}) {
    const std::uint32_t thread = builder.thread(builder.process(source, 1), id);
    for (const Nanos start : {Nanos{}, Nanos{90'000}, kDecades}) {
      builder.trace().host_events.push_back({.start = start + Nanos{id},
                                             .duration = Nanos{30'000},
                                             .name = builder.intern("x.py(3): f"),
                                             .thread = thread,
                                             .kind = model::HostKind::kPython});
    }
  }
  for (const Nanos start : {Nanos{5}, kDecades}) {
    builder.trace().device_events.push_back({.start = start,
                                             .duration = Nanos{900'000'000'000'000'000},
                                             .name = builder.intern("gemm"),
                                             .stream = stream});
  }
  ASSERT_NO_FATAL_FAILURE(expect_exact(std::move(builder).finish()));
}

TEST(Page, NoLineIsWiderThanAskedFor) {
  const model::Trace trace = random_trace(7);
  const TraceReport got = report(Prepared(trace));
  for (const int width : {72, 100, 160}) {
    std::string line;
    for (const char c : draw(got, width, false)) {
      if (c != '\n') {
        line += (static_cast<unsigned char>(c) & 0xC0U) == 0x80U ? "" : std::string(1, 'x');
        continue;
      }
      EXPECT_LE(line.size(), static_cast<std::size_t>(width));
      line.clear();
    }
  }
}

}  // namespace
}  // namespace amdahl::profile
