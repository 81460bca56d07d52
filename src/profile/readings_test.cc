#include "profile/readings.h"

#include <gtest/gtest.h>

#include "profile/page.h"
#include "profile/trace_testing.h"
#include "trace/testing.h"

namespace amdahl::profile {
namespace {

// A kernel of 10 each 20; of `all` events `broken` have no time.
model::Trace with_broken_times(int all, int broken) {
  std::string text = R"({"traceEvents":[)";
  for (int i = 0; i < all; ++i) {
    text += R"({"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"dur":10,"ts":)" +
            (i < broken ? R"("never")" : std::to_string(20 * i)) +
            R"(,"args":{"device":0,"stream":7}},)";
  }
  text.back() = ']';
  return *trace::load_kineto(text + "}");
}

std::string first_lines(const TraceReport& report) {
  const std::string page = draw(report, 120, false);
  return page.substr(0, page.find("bottleneck:"));
}

TEST(Readings, ThatChangeTotalsAreSaidFirst) {
  const model::Trace trace = with_broken_times(100, 2);
  const TraceReport got = report(Prepared(trace));
  ASSERT_EQ(got.readings.size(), 1u);
  EXPECT_NE(got.readings[0].find("events without a usable time: 2"), std::string::npos)
      << got.readings[0];
  EXPECT_NE(first_lines(got).find("note: a.json: events without a usable time: 2"),
            std::string::npos);
  const std::string page = draw(got, 120, false);
  EXPECT_EQ(page.find("usable time", page.find("bottleneck:")), std::string::npos)
      << "what is said first is not said again";
}

TEST(Readings, ThatChangeLessAreSaidBelow) {
  const model::Trace trace = with_broken_times(300, 2);
  const TraceReport got = report(Prepared(trace));
  EXPECT_TRUE(got.readings.empty());
  EXPECT_EQ(first_lines(got).find("note:"), std::string::npos);
  EXPECT_NE(draw(got, 120, false).find("missing: a.json: events without a usable time: 2"),
            std::string::npos);
}

TEST(Readings, AFileThatIsCutShortIsSaidFirst) {
  const auto trace = trace::load_kineto(
      R"({"traceEvents":[{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"dur":10,"ts":20,)"
      R"("args":{"device":0,"stream":7}},{"ph":"X","cat":"ker)");
  ASSERT_TRUE(trace);
  const TraceReport got = report(Prepared(*trace));
  ASSERT_FALSE(got.readings.empty());
  EXPECT_NE(first_lines(got).find("truncated"), std::string::npos);
}

TEST(Readings, ClocksThatDifferAreSaidFirst) {
  MadeTrace made;
  for (int rank = 0; rank < 2; ++rank) {
    if (rank > 0) made.next_rank();
    // The second clock is 50,000 ahead.
    for (int i = 0; i < 10; ++i) {
      const std::int64_t at = 50'000 * rank + 1000 * i;
      made.kernel(at + 10, 500, made.call("cudaLaunchKernel", at, 5));
      made.kernel(at + 520, 300, made.call("cudaLaunchKernel", at + 6, 5), "ncclKernel_AllReduce");
    }
  }
  const model::Trace trace = made.finish();
  const TraceReport got = report(Prepared(trace));
  ASSERT_EQ(got.readings.size(), 1u);
  EXPECT_EQ(got.readings[0],
            "ranks: clocks differ by up to 50 ms; they were aligned by the ends of collectives");
}

}  // namespace
}  // namespace amdahl::profile
