#include "model/trace.h"

#include <string>

#include <gtest/gtest.h>

#include "model/trace_builder.h"

namespace amdahl::model {
namespace {

TEST(StringPool, GivesTheSameNumberForTheSameText) {
  StringPool pool;
  EXPECT_EQ(pool.intern(""), 0u);
  std::vector<std::uint32_t> numbers;
  for (int i = 0; i < 5000; ++i) {
    numbers.push_back(
        pool.intern(std::string(static_cast<std::size_t>(i % 700), 'x') + std::to_string(i)));
  }
  const std::string_view before = pool[numbers[7]];
  const StringPool moved = std::move(pool);
  EXPECT_EQ(moved.size(), 5001u);
  EXPECT_EQ(before, "xxxxxxx7") << "a view outlives the move";
  EXPECT_EQ(moved[numbers[4999]].size(), 4999u % 700 + 4);
  EXPECT_EQ(moved.find("xxxxxxx7"), numbers[7]);
  EXPECT_EQ(moved.find("none"), 0u);
}

TEST(StringPool, KeepsLongTexts) {
  StringPool pool;
  const std::string text(1'000'000, 'a');
  const std::uint32_t number = pool.intern(text);
  pool.intern("b");
  EXPECT_EQ(pool[number], text);
  EXPECT_EQ(pool.intern(text), number);
}

class Builder : public testing::Test {
 protected:
  void host(std::uint32_t thread, int start, int duration, std::uint32_t correlation = 0,
            HostKind kind = HostKind::kRuntime) {
    HostEvent event;
    event.start = Nanos(start);
    event.duration = Nanos(duration);
    event.thread = thread;
    event.correlation = correlation;
    event.kind = kind;
    builder_.trace().host_events.push_back(event);
  }
  void kernel(std::uint32_t stream, int start, std::uint32_t correlation) {
    DeviceEvent event;
    event.start = Nanos(start);
    event.duration = Nanos(1);
    event.stream = stream;
    event.correlation = correlation;
    builder_.trace().device_events.push_back(event);
  }

  TraceBuilder builder_;
};

TEST_F(Builder, JoinsWithinTheProcessWhereStreamsNameOne) {
  const std::uint32_t source = builder_.source({});
  const std::uint32_t device = builder_.device(source, 0);
  const std::uint32_t one = builder_.process(source, 1);
  const std::uint32_t two = builder_.process(source, 2);
  host(builder_.thread(one, 1), 10, 1, 7);
  host(builder_.thread(two, 1), 20, 1, 7);
  kernel(builder_.stream(device, one, 7), 100, 7);
  kernel(builder_.stream(device, two, 7), 101, 7);
  kernel(builder_.stream(device, two, 7), 102, 8);
  const Trace trace = std::move(builder_).finish();
  EXPECT_EQ(trace.host_events[trace.device_events[0].launch].start, Nanos(10));
  EXPECT_EQ(trace.host_events[trace.device_events[1].launch].start, Nanos(20));
  EXPECT_EQ(trace.device_events[2].launch, kNone);
}

TEST_F(Builder, JoinsWithinTheSourceOtherwiseAndTakesTheLastCall) {
  for (int rank = 0; rank < 2; ++rank) {
    const std::uint32_t source = builder_.source({});
    const std::uint32_t thread = builder_.thread(builder_.process(source, 1), 1);
    host(thread, 30 + rank, 1, 7);
    host(thread, 10 + rank, 1, 7);
    host(thread, 50 + rank, 1, 7, HostKind::kOp);  // No call: it launches nothing.
    kernel(builder_.stream(builder_.device(source, 0), kNone, 7), 100 + rank, 7);
  }
  const Trace trace = std::move(builder_).finish();
  EXPECT_EQ(trace.host_events[trace.device_events[0].launch].start, Nanos(30));
  EXPECT_EQ(trace.host_events[trace.device_events[1].launch].start, Nanos(31));
}

TEST_F(Builder, FindsTheEventAround) {
  const std::uint32_t source = builder_.source({});
  const std::uint32_t process = builder_.process(source, 1);
  const std::uint32_t main = builder_.thread(process, 1);
  const std::uint32_t other = builder_.thread(process, 2);
  host(main, 5, 2);                             // Inner.
  host(main, 0, 10, 0, HostKind::kOp);          // Around it,
  host(main, 0, 10, 0, HostKind::kAnnotation);  // and around that.
  host(main, 8, 5);                             // Ends after them: in neither.
  host(other, 6, 1);                            // Another thread.
  host(main, 20, 0);                            // After all.
  const Trace trace = std::move(builder_).finish();
  ASSERT_EQ(trace.host_events.size(), 6u);
  EXPECT_EQ(trace.host_events[0].kind, HostKind::kAnnotation);
  EXPECT_EQ(trace.host_events[0].parent, kNone);
  EXPECT_EQ(trace.host_events[1].parent, 0u);
  EXPECT_EQ(trace.host_events[2].parent, 1u);
  EXPECT_EQ(trace.host_events[3].parent, kNone);
  EXPECT_EQ(trace.host_events[4].parent, kNone);
  EXPECT_EQ(trace.host_events[5].parent, kNone);
}

TEST_F(Builder, SharesRowsAndCountsLosses) {
  const std::uint32_t source = builder_.source({});
  EXPECT_EQ(builder_.process(source, 4), builder_.process(source, 4));
  EXPECT_NE(builder_.process(source, 4), builder_.process(source, 5));
  const std::uint32_t outer = builder_.frame(kNone, "main");
  EXPECT_EQ(builder_.frame(outer, "f"), builder_.frame(outer, "f"));
  EXPECT_NE(builder_.frame(outer, "f"), builder_.frame(kNone, "f"));
  EXPECT_EQ(builder_.correlation(12), 12u);
  EXPECT_EQ(builder_.correlation(1ULL << 40), builder_.correlation(1ULL << 40));
  EXPECT_NE(builder_.correlation(1ULL << 40), builder_.correlation(1ULL << 41));
  builder_.lose(source, LossKind::kNoTime, 2, "byte 5: a");
  builder_.lose(source, LossKind::kNoTime, 3, "byte 9: b");
  builder_.lose(source, LossKind::kTooLong, 0, "nothing");
  const Trace trace = std::move(builder_).finish();
  ASSERT_EQ(trace.losses.size(), 1u);
  EXPECT_EQ(describe(trace.losses[0]), "events without a usable time: 5 (first: byte 5: a)");
}

}  // namespace
}  // namespace amdahl::model
