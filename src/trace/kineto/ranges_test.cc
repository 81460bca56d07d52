#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trace/testing.h"

namespace amdahl::trace::kineto {
namespace {

using model::Trace;

// "NAME 1000+500 on LINE" for each host event, "NAME=VALUE at 1000" for each sample, and what was
// lost.
std::string shown(const std::string& json) {
  const Result<Trace> trace = load_kineto(json);
  if (!trace) return trace.error().text;
  std::string text;
  for (const model::HostEvent& event : trace->host_events) {
    text += fmt::format("{} {}+{} on {};", trace->name(event), event.start.count(),
                        event.duration.count(),
                        std::string(trace->names[trace->threads[event.thread].name]));
  }
  for (const model::Sample& sample : trace->samples) {
    text += fmt::format("{}={} at {};", std::string(trace->names[sample.name]), sample.value,
                        sample.at.count());
  }
  for (const model::Loss& loss : trace->losses) text += model::describe(loss) + ";";
  return text;
}

// As NCCL's example of a profiler writes them, and Perfetto: ranges that overlap on one thread.
TEST(AsyncRanges, AreRangesOnALineOfTheirOwn) {
  EXPECT_EQ(shown(R"([{"name":"AllReduce","cat":"COLL","ph":"b","id":0,"pid":3,"tid":1,"ts":1},)"
                  R"({"name":"AllReduce","cat":"COLL","ph":"b","id":1,"pid":3,"tid":1,"ts":2},)"
                  R"({"name":"Recv","cat":"NET","ph":"n","id":1,"pid":3,"tid":1,"ts":3},)"
                  R"({"name":"AllReduce","cat":"COLL","ph":"e","id":0,"pid":3,"tid":1,"ts":4},)"
                  R"({"name":"AllReduce","cat":"COLL","ph":"e","id":1,"pid":3,"tid":1,"ts":9}])"),
            "AllReduce 1000+3000 on async ranges;AllReduce 2000+7000 on async ranges;");
}

TEST(AsyncRanges, HaveIdsOfTwoForms) {
  EXPECT_EQ(shown(R"([{"name":"a","ph":"b","id2":{"local":"0x7"},"pid":3,"tid":1,"ts":1},)"
                  R"({"name":"a","ph":"b","id2":{"local":"0x8"},"pid":3,"tid":1,"ts":2},)"
                  R"({"name":"a","ph":"e","id2":{"local":"0x7"},"pid":3,"tid":1,"ts":4},)"
                  R"({"name":"a","ph":"e","id2":{"local":"0x8"},"pid":3,"tid":1,"ts":9}])"),
            "a 1000+3000 on async ranges;a 2000+7000 on async ranges;");
}

TEST(AsyncRanges, MayLackAnEndOrABeginning) {
  EXPECT_EQ(shown(R"([{"name":"a","cat":"x","ph":"b","id":"0x1","pid":3,"tid":1,"ts":1},)"
                  R"({"name":"b","cat":"x","ph":"e","id":"0x1","pid":3,"tid":1,"ts":4}])"),
            "events without a usable time: 2 (first: an end without a start);");
}

TEST(Counters, HaveTheirKeysInAnyOrder) {
  EXPECT_EQ(shown(R"([{"ph":"C","name":"power","pid":0,"ts":5,"args":{"W":300}},)"
                  R"({"args":{"W":310},"name":"power","ph":"C","pid":0,"ts":6},)"
                  R"({"args":{"W":320,"V":"x"},"ts":7,"pid":0,"ph":"C","name":"power"},)"
                  R"({"args":{"W":330},"ts":8,"dur":1,"tid":1,"pid":0,"ph":"X","name":"op"}])"),
            "op 8000+1000 on ;power W=300 at 5000;power W=310 at 6000;power W=320 at 7000;");
}

}  // namespace
}  // namespace amdahl::trace::kineto
