#include "profile/thread_waits.h"

#include <gtest/gtest.h>

#include "model/trace_builder.h"

namespace amdahl::profile {
namespace {

using model::ThreadState;
using model::WaitReason;
using std::chrono::milliseconds;

TEST(ThreadWaits, SumsByThreadAndReason) {
  model::TraceBuilder builder;
  const std::uint32_t source = builder.source({});
  const std::uint32_t thread = builder.thread(builder.process(source, 10), 11);
  builder.trace().threads[thread].name = builder.intern("loader");
  const std::uint32_t stack = builder.frame(builder.frame(model::kNone, "main"), "wait_for_item");
  const auto span = [&](int start, int duration, ThreadState state, WaitReason reason,
                        std::uint32_t of) {
    model::ThreadSpan row;
    row.start = milliseconds(start);
    row.duration = milliseconds(duration);
    row.thread = thread;
    row.state = state;
    row.reason = reason;
    row.stack = of;
    builder.trace().thread_spans.push_back(row);
  };
  span(0, 10, ThreadState::kBlocked, WaitReason::kFutex, model::kNone);
  span(20, 30, ThreadState::kBlocked, WaitReason::kFutex, stack);
  span(60, 5, ThreadState::kRunnable, WaitReason::kUnknown, model::kNone);
  span(70, 100, ThreadState::kRunning, WaitReason::kUnknown, model::kNone);
  model::ThreadTotal total;
  total.total = milliseconds(7);
  total.count = 3;
  total.longest = milliseconds(4);
  total.thread = thread;
  total.reason = WaitReason::kRead;
  builder.trace().thread_totals.push_back(total);
  // A span that the total holds already.
  span(200, 4, ThreadState::kBlocked, WaitReason::kRead, model::kNone);
  const model::Trace trace = std::move(builder).finish();
  EXPECT_EQ(thread_waits(trace, 9)[1].total, milliseconds(7));
  const std::vector<WaitRow> rows = thread_waits(trace, 2);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].thread, "loader (11)");
  EXPECT_EQ(rows[0].state, "blocked");
  EXPECT_EQ(rows[0].reason, "futex");
  EXPECT_EQ(rows[0].total, milliseconds(40));
  EXPECT_EQ(rows[0].count, 2u);
  EXPECT_EQ(rows[0].longest, milliseconds(30));
  EXPECT_EQ(rows[0].where, "wait_for_item");
  EXPECT_EQ(rows[1].reason, "read");
  EXPECT_EQ(rows[1].count, 3u);
}

TEST(ThreadWaits, FunctionsByTheirShareOfTheSamples) {
  model::TraceBuilder builder;
  builder.source({});
  const std::uint32_t event = builder.intern("cpu-clock");
  const std::uint32_t decode = builder.frame(model::kNone, "decode");
  const std::uint32_t copy = builder.frame(model::kNone, "copy");
  for (const std::uint32_t stack : {decode, decode, decode, copy}) {
    model::StackSample sample;
    sample.stack = stack;
    sample.event = event;
    builder.trace().stack_samples.push_back(sample);
  }
  const model::Trace trace = std::move(builder).finish();
  const std::vector<HotRow> rows = hot_functions(trace, 5);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].function, "decode");
  EXPECT_DOUBLE_EQ(rows[0].share, 0.75);
}

// A record of a whole host: what only sleeps is not what the command waits for.
TEST(ThreadWaits, ThreadsThatDoNothingComeLast) {
  model::TraceBuilder builder;
  const std::uint32_t process = builder.process(builder.source({}), 10);
  const auto span = [&](int id, int start, int duration) {
    model::ThreadSpan row;
    row.start = milliseconds(start);
    row.duration = milliseconds(duration);
    row.thread = builder.thread(process, id);
    row.state = ThreadState::kBlocked;
    row.reason = WaitReason::kSleep;
    builder.trace().thread_spans.push_back(row);
  };
  for (int id = 1; id <= 5; ++id) span(id, 0, 1000);
  span(9, 100, 300);
  const model::Trace trace = std::move(builder).finish();
  EXPECT_EQ(thread_waits(trace, 3).front().thread, "9");
  EXPECT_EQ(thread_waits(trace, 9).front().thread, "1") << "all are shown";
}

}  // namespace
}  // namespace amdahl::profile
