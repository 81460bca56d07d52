#include "profile/ranks.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "profile/critical_path.h"
#include "profile/trace_report.h"
#include "profile/trace_testing.h"
#include "profile/what_if.h"

namespace amdahl::profile {
namespace {

using std::chrono::microseconds;

constexpr const char* kAllReduce = "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)";

// Two ranks; the second computes `more` longer before each collective, and its clock is ahead.
model::Trace two_ranks(std::int64_t more, std::int64_t ahead) {
  MadeTrace made;
  for (int rank = 0; rank < 2; ++rank) {
    if (rank == 1) made.next_rank();
    for (std::int64_t step = 0; step < 10; ++step) {
      const std::int64_t at = step * 1000 + (rank == 1 ? ahead : 0);
      const std::int64_t compute = 300 + (rank == 1 ? more : 0);
      made.kernel(at + 10, compute, made.call("cudaLaunchKernel", at, 4));
      const std::int64_t arrival = at + 11 + compute;
      const std::int64_t end = at + 11 + 300 + more + 50;  // Both leave together.
      made.kernel(arrival, end - arrival, made.call("cudaLaunchKernel", at + 5, 4), kAllReduce);
    }
    made.call("cudaDeviceSynchronize", 9100 + (rank == 1 ? ahead : 0), 400);
  }
  return made.finish();
}

TEST(Ranks, TheLateRankIsNamedAndTheOtherWaits) {
  const model::Trace trace = two_ranks(200, 0);
  const Prepared prepared(trace);
  const Ranks found = ranks(prepared);
  EXPECT_EQ(found.note, "");
  ASSERT_EQ(found.ranks.size(), 2u);
  EXPECT_EQ(found.ranks[0].waited, microseconds(10 * 200));
  EXPECT_EQ(found.ranks[1].waited, Nanos{});
  EXPECT_EQ(found.ranks[1].last, 10u);
  EXPECT_EQ(found.straggler, 1u);
  ASSERT_EQ(found.collectives.size(), 1u);
  EXPECT_EQ(found.collectives[0].skew_median, microseconds(200));
  EXPECT_EQ(found.collectives[0].transfer, microseconds(10 * 50));
  EXPECT_EQ(found.ranks[0].exposed, microseconds(10 * 250));
  ASSERT_EQ(found.libraries.size(), 1u);
  EXPECT_EQ(found.libraries[0].library, "NCCL");
}

TEST(Ranks, ClocksAreAlignedByTheEndsOfCollectives) {
  const model::Trace trace = two_ranks(200, 5'000'000);
  const Prepared prepared(trace);
  const Ranks found = ranks(prepared);
  EXPECT_EQ(found.note, "");
  EXPECT_EQ(found.ranks[1].shift, std::chrono::seconds(5));
  EXPECT_EQ(found.ranks[0].waited, microseconds(2000));
}

TEST(Ranks, ThePathGoesThroughTheLateRank) {
  const model::Trace trace = two_ranks(200, 0);
  const Prepared prepared(trace);
  const Ranks found = ranks(prepared);
  const WorkGraph graph = work_graph(prepared, {found.joined, found.shifts});
  EXPECT_EQ(replay(prepared, graph, {}), graph.to - graph.from);
  const CriticalPath path = critical_path(prepared, graph);
  Nanos on_late{};
  for (const PathSegment& segment : path.segments) {
    if (segment.on_device && segment.why == Why::kKernel) {
      EXPECT_EQ(trace.streams[segment.lane].device, 1u);
      on_late += segment.to - segment.from;
    }
  }
  EXPECT_GT(on_late, microseconds(400));
}

// The second file begins later: what its rank did before that is not known, and nobody's fault.
TEST(Ranks, WaitingForAFileThatBeginsLaterIsNoStraggling) {
  MadeTrace made;
  for (int rank = 0; rank < 2; ++rank) {
    if (rank == 1) made.next_rank();
    for (std::int64_t t = rank == 1 ? 5000 : 0; t < 7000; t += 1000) {
      if (t > 0 && t < 5000) continue;
      made.kernel(t + 10, 300, made.call("cudaLaunchKernel", t, 4));
      const std::int64_t arrival = t + 311;
      const std::int64_t end = t < 5000 ? 5400 : t + 400;  // All leave together.
      if (t == 5000 && rank == 0) continue;                // It is in the first one still.
      made.kernel(arrival, end - arrival, made.call("cudaLaunchKernel", t + 5, 4), kAllReduce);
    }
  }
  const model::Trace trace = made.finish();
  const Ranks found = ranks(Prepared(trace));
  EXPECT_EQ(found.note, "");
  // From the beginning of the second file to its collective.
  EXPECT_EQ(found.ranks[0].waited, microseconds(311));
  EXPECT_EQ(found.ranks[0].unseen, microseconds(5000 - 311));
  const TraceReport got = report(Prepared(trace));
  const auto says = [](const std::string& text) {
    return text.starts_with("ranks: ranks waited 4.69 ms in collectives");
  };
  EXPECT_EQ(std::ranges::count_if(got.profile.missing, says), 1);
  EXPECT_LE(got.profile.evidence.at("trace.busy_share"), 1);
}

TEST(Ranks, OneRankCannotTell) {
  MadeTrace made;
  made.kernel(0, 10, 0, kAllReduce);
  const model::Trace trace = made.finish();
  EXPECT_EQ(ranks(Prepared(trace)).note, "only one rank was given");
}

}  // namespace
}  // namespace amdahl::profile
