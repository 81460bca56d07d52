// The critical path of reference traces, with what profilers recorded of waits and without it.
#include <string>

#include <gtest/gtest.h>

#include "profile/critical_path.h"
#include "profile/what_if.h"
#include "trace/testing.h"

namespace amdahl::profile {
namespace {

void expect_whole(const model::Trace& trace) {
  const Prepared prepared(trace);
  const WorkGraph graph = work_graph(prepared);
  const CriticalPath path = critical_path(prepared, graph);
  Nanos until = graph.from;
  for (const PathSegment& segment : path.segments) {
    ASSERT_EQ(segment.from, until);
    until = segment.to;
  }
  EXPECT_EQ(until, graph.to);
  EXPECT_EQ(replay(prepared, graph, {}), graph.to - graph.from);
}

TEST(PathCorpus, SumsToTheWallTimeAlsoWhereWaitsAreNotRecorded) {
  if (trace::corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  int with_waits = 0;
  for (const char* name :
       {"hta/a100_alexnet_cudasync.json.gz", "hta/a100_simple_add_cudasync.json.gz",
        "hta/a100_event_sync.json.gz", "hta/a100_event_sync_multistream.json.gz",
        "hta/a100_nccl_2rank_rank0.json.gz", "hta/mi250_rocm62_minitoy.json.gz"}) {
    SCOPED_TRACE(name);
    auto trace = trace::load(*trace::reader_named("kineto"), name,
                             trace::bytes_of(trace::corpus() + "traces/" + name));
    ASSERT_TRUE(trace) << trace.error().text;
    with_waits += trace->syncs.empty() ? 0 : 1;
    expect_whole(*trace);
    model::Trace blind = *std::move(trace);
    blind.syncs.clear();
    expect_whole(blind);
  }
  EXPECT_GE(with_waits, 4);
}

}  // namespace
}  // namespace amdahl::profile
