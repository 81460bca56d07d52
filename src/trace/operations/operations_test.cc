#include "trace/operations/operations.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trace/testing.h"

namespace amdahl::trace::operations {
namespace {

std::string operation(std::string_view kind, int process, int thread, std::string_view start,
                      std::string_view args) {
  return fmt::format(
      R"({{"name": "{0}", "cat": "{0}", "pid": {1}, "tid": {2}, "ts": {3}, "dur": 2.5, )"
      R"("ph": "X", "args": {{{4}}}}})",
      kind, process, thread, start, args);
}

std::string thread_name(int process, int thread, std::string_view name) {
  return fmt::format(
      R"({{"name": "thread_name", "pid": {}, "tid": {}, "ph": "M", "args": {{"name": "{}"}}}})",
      process, thread, name);
}

const std::string kArgs = R"("step": 7, "model_chunk": 1, "mb_id": 0, "seq_id": 0)";

Result<model::Trace> load_text(const std::string& text) {
  const auto reader = reader_named("operations");
  return load(*reader, "a.json", bytes_in(text));
}

const model::Loss* loss_of(const model::Trace& trace, model::LossKind kind) {
  const auto found = std::ranges::find(trace.losses, kind, &model::Loss::kind);
  return found == trace.losses.end() ? nullptr : &*found;
}

TEST(Operations, LanesNameStageAndReplica) {
  const std::string text = "[" + operation("forward-compute", 3, 10, "1234567.8901234", kArgs) +
                           "," + thread_name(3, 10, "PP rank 2, TP rank 1, compute") + "]";
  const auto trace = load_text(text);
  ASSERT_TRUE(trace) << trace.error().text;
  ASSERT_EQ(trace->operations.size(), 1u);
  const model::Operation& row = trace->operations.front();
  EXPECT_EQ(trace->names[row.name], "forward-compute");
  EXPECT_EQ(row.start, Nanos{1'234'567'890});
  EXPECT_EQ(row.duration, Nanos{2'500});
  EXPECT_EQ(row.step, 7);
  EXPECT_EQ(row.chunk, 1);
  EXPECT_EQ(row.stage, 2);
  EXPECT_EQ(row.replica, 3 * 2 + 1);  // Of two ranks within each stage, the second.
}

TEST(Operations, OneReaderClaimsThem) {
  const std::string text = "[" + operation("forward-compute", 0, 0, "0", kArgs) + "]";
  const auto reader = reader_for(text);
  ASSERT_TRUE(reader) << reader.error().text;
  EXPECT_EQ(reader->name, "operations");
  EXPECT_FALSE(claims(R"([{"ph": "X", "ts": 1, "name": "aten::add", "args": {"step": 1}}])"));
}

TEST(Operations, WithoutStageItSaysWhatToAdd) {
  const auto trace = load_text("[" + operation("forward-compute", 0, 0, "0", kArgs) + "]");
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().text.find("args.stage"), std::string::npos);
  const auto mended =
      load_text("[" + operation("forward-compute", 0, 0, "0", kArgs + R"(, "stage": 1)") + "]");
  ASSERT_TRUE(mended) << mended.error().text;
  EXPECT_EQ(mended->operations.front().stage, 1);
}

TEST(Operations, TimelinesOfTwoJobsAreNotMixed) {
  const auto file = [](int process) {
    return "[" + operation("forward-compute", process, 0, "0", kArgs + R"(, "stage": 1)") + "]";
  };
  model::TraceBuilder builder;
  const auto give = [&](const std::string& name, int process) {
    Input input;
    input.name = name;
    input.next = bytes_in(file(process));
    return read(input, {}, builder);
  };
  ASSERT_TRUE(give("a.json", 0));
  EXPECT_TRUE(give("b.json", 1)) << "another rank of the same job";
  const auto again = give("c.json", 0);
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().text.find("profile each job alone"), std::string::npos);
  EXPECT_EQ(std::move(builder).finish().operations.size(), 2U);
}

TEST(Operations, LostEventsAreCounted) {
  const std::string name = thread_name(0, 0, "PP rank 0, compute");
  const std::string text = "[" + operation("forward-compute", 0, 0, "0", kArgs) + "," +
                           operation("forward-compute", 0, 0, "NaN", kArgs) + "," +
                           operation("forward-compute", 0, 0, "\"x\"", kArgs) + "," +
                           operation("gc", 0, 0, "9", R"("mb_id": 0)") + "," +
                           operation("gc", 0, 5, "9", kArgs) + "," + name + "]";
  const auto trace = load_text(text);
  ASSERT_TRUE(trace) << trace.error().text;
  EXPECT_EQ(trace->operations.size(), 1u);
  for (const auto kind : {model::LossKind::kUnreadable, model::LossKind::kNoTime,
                          model::LossKind::kUnknownKind, model::LossKind::kNoDevice}) {
    SCOPED_TRACE(model::name(kind));
    ASSERT_NE(loss_of(*trace, kind), nullptr);
    EXPECT_EQ(loss_of(*trace, kind)->count, 1u);
  }
}

TEST(Operations, CutAnywhereItStillReadsWhatIsWhole) {
  const std::string text = "[" + thread_name(0, 0, "PP rank 0, compute") + "," +
                           operation("forward-compute", 0, 0, "0", kArgs) + "," +
                           operation("backward-compute", 0, 0, "5", kArgs) + "]";
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto trace = load_text(text.substr(0, size));
    if (trace) {
      EXPECT_LE(trace->operations.size(), 2u);
    }
  }
}

TEST(Operations, TheCorpusIsReadWhole) {
  if (corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  const auto trace = load(*reader_named("operations"), "SE",
                          bytes_of(corpus() + "traces/straggler/timeline-SE.json.gz"));
  ASSERT_TRUE(trace) << trace.error().text;
  EXPECT_EQ(trace->operations.size(), 112'320u);
  // Eight end before they start, by some microseconds.
  ASSERT_EQ(trace->losses.size(), 1u);
  EXPECT_EQ(trace->losses.front().kind, model::LossKind::kNegativeDuration);
  EXPECT_EQ(trace->losses.front().count, 8u);
}

}  // namespace
}  // namespace amdahl::trace::operations
