#include "trace/kineto/kineto.h"

#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trace/testing.h"

namespace amdahl::trace::kineto {
namespace {

using model::HostKind;
using model::Trace;

std::string file_of(std::string_view events, std::string_view rest = "") {
  return fmt::format("{{\"schemaVersion\": 1, \"traceEvents\": [{}]{}}}", events, rest);
}

// "cpu_op aten::add 1000+500" for each host event and "kernel k 0/7 2000+100" for each device's.
std::string rows_of(const Trace& trace) {
  constexpr std::string_view kHost[] = {"op",         "runtime",  "driver", "python",
                                        "annotation", "overhead", "other"};
  constexpr std::string_view kDevice[] = {"kernel", "copy", "set", "sync", "annotation"};
  std::string rows;
  for (const model::HostEvent& event : trace.host_events) {
    rows += fmt::format("{} {} {}+{};", kHost[static_cast<int>(event.kind)], trace.name(event),
                        event.start.count(), event.duration.count());
  }
  for (const model::DeviceEvent& event : trace.device_events) {
    const model::TraceStream& stream = trace.streams[event.stream];
    rows += fmt::format("{} {} {}/{} {}+{};", kDevice[static_cast<int>(event.kind)],
                        trace.name(event), trace.devices[stream.device].id, stream.id,
                        event.start.count(), event.duration.count());
  }
  return rows;
}

std::string losses_of(const Trace& trace) {
  std::string losses;
  for (const model::Loss& loss : trace.losses) losses += describe(loss) + ";";
  return losses;
}

constexpr std::string_view kOp =
    R"({"ph":"X","cat":"cpu_op","name":"aten::add","pid":5,"tid":6,"ts":1,"dur":2})";

struct Case {
  std::string_view what;
  std::string events;
  std::string_view rows;
  std::string_view losses;
};

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const Result<Trace> trace = load_kineto(file_of(c.events));
    ASSERT_TRUE(trace) << trace.error().text;
    EXPECT_EQ(rows_of(*trace), c.rows);
    EXPECT_EQ(losses_of(*trace), c.losses);
  }
}

TEST(Kineto, ReadsTheDialects) {
  check({
      {"an operator", std::string(kOp), "op aten::add 1000+2000;", ""},
      {"names of 2021, thread in quotes",
       R"({"ph":"X","cat":"Operator","name":"a","pid":5,"tid":"6","ts":"7","dur":"2"},
          {"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":"stream 7","ts":9,"dur":1,
           "args":{"device":0,"stream":7,"correlation":3}})",
       "op a 7000+2000;kernel k 0/7 9000+1000;", ""},
      {"nanoseconds as decimals",
       R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1.5,"dur":0.25,
           "args":{"device":1,"stream":7}})",
       "kernel k 1/7 1500+250;", ""},
      {"AMD: streams in hexadecimal, hip names under cuda_runtime",
       R"({"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":5,"tid":6,"ts":1,"dur":1,
           "args":{"correlation":4,"stream":"0x0"}},
          {"ph":"X","cat":"gpu_memcpy","name":"CopyHostToDevice","pid":2,"tid":0,"ts":2,"dur":1,
           "args":{"device":2,"stream":0,"correlation":4,"kind":"HostToDevice"}})",
       "runtime hipLaunchKernel 1000+1000;copy CopyHostToDevice 2/0 2000+1000;", ""},
      {"MTIA: the process is the device",
       R"({"ph":"X","cat":"mtia_ccp_events","name":"dma_request","pid":9,"tid":801,"ts":2,"dur":1,
           "args":{"size":16}},
          {"ph":"X","cat":"mtia_ccp_events","name":"fc-dtype_Float","pid":9,"tid":801,"ts":4,
           "dur":1,
           "args":{"stream":3,"correlation":8}})",
       "copy dma_request 9/801 2000+1000;kernel fc-dtype_Float 9/3 4000+1000;", ""},
      {"arguments before the category",
       R"({"args":{"stream":7,"device":0},"dur":1,"ts":3,"tid":1,"pid":0,"name":"k","cat":"kernel",
           "ph":"X"})",
       "kernel k 0/7 3000+1000;", ""},
      {"annotations of devices as of 2022, and backends of others",
       R"({"ph":"X","cat":"gpu_user_Annotation","name":"a","pid":0,"tid":7,"ts":3,"dur":1,
           "args":{"device":0,"stream":7}},
          {"ph":"X","cat":"privateuse1_kernel","name":"k","pid":0,"tid":7,"ts":4,"dur":1,
           "args":{"device":0,"stream":7}},
          {"ph":"X","cat":"xpu_sync","name":"HOST_EVENT","pid":-1,"tid":7,"ts":4,"dur":1},
          {"ph":"X","cat":"hardware_counters","name":"c","pid":0,"tid":7,"ts":4,"dur":1})",
       "annotation a 0/7 3000+1000;kernel k 0/7 4000+1000;", ""},
      {"beginnings and ends, one in the other, on two threads",
       R"({"ph":"B","cat":"cpu_op","name":"outer","pid":1,"tid":1,"ts":1},
          {"ph":"B","cat":"cpu_op","name":"beside","pid":1,"tid":2,"ts":2},
          {"ph":"B","cat":"cpu_op","name":"inner","pid":1,"tid":1,"ts":3},
          {"ph":"E","pid":1,"tid":1,"ts":4},{"ph":"E","pid":1,"tid":1,"ts":9},
          {"ph":"E","pid":1,"tid":2,"ts":5})",
       "op outer 1000+8000;op beside 2000+3000;op inner 3000+1000;", ""},
      {"the same without categories",
       R"({"ph":"B","name":"a","pid":1,"tid":1,"ts":1},{"ph":"E","pid":1,"tid":1,"ts":4})",
       "op a 1000+3000;", ""},
      {"steps of flows",
       R"({"ph":"t","id":1,"cat":"c","name":"f","pid":1,"tid":1,"ts":1},)" + std::string(kOp),
       "op aten::add 1000+2000;", ""},
      {"escapes in names",
       R"({"ph":"X","cat":"cpu_op","name":"a\"\u00e9\\","pid":5,"tid":6,"ts":1,"dur":2})",
       "op a\"\u00e9\\ 1000+2000;", ""},
      {"nothing but what says nothing",
       R"({"ph":"i","s":"g","name":"Record Window End","pid":"","tid":"","ts":1})", "", ""},
  });
}

TEST(Kineto, CountsWhatIsWrongAndKeepsTheRest) {
  const std::string op(kOp);
  const std::string_view row = "op aten::add 1000+2000;";
  check({
      {"NaN", R"({"ph":"X","cat":"cpu_op","name":"b","pid":5,"tid":6,"ts":NaN,"dur":2},)" + op, row,
       "events without a usable time: 1 (first: byte 39: b);"},
      {"halves",
       R"({"ph":"B","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":1},
                    {"ph":"E","pid":1,"tid":2,"ts":4},)" +
           op,
       row, "events without a usable time: 2 (first: an end without a start);"},
      {"no time", R"({"ph":"X","cat":"cpu_op","name":"b"},)" + op, row,
       "events without a usable time: 1 (first: byte 39: b);"},
      {"NaN where nobody looks",
       R"({"ph":"X","cat":"cpu_op","name":"b","pid":5,"tid":6,"ts":1,"dur":2,"args":{"x":-nan}})",
       "op b 1000+2000;", ""},
      {"a negative duration",
       R"({"ph":"X","cat":"cpu_op","name":"b","pid":5,"tid":6,"ts":9,"dur":-3},)" + op,
       "op aten::add 1000+2000;op b 9000+0;",
       "negative durations, taken as 0: 1 (first: byte 39: b);"},
      {"a time beyond all bounds",
       R"({"ph":"X","cat":"cpu_op","name":"b","pid":5,"tid":6,"ts":9e15,"dur":3},)" + op, row,
       "times out of range: 1 (first: byte 39: b);"},
      {"a key twice",
       R"({"ph":"X","cat":"cpu_op","name":"b","name":"c","pid":5,"tid":6,"ts":1,"dur":2})",
       "op b 1000+2000;", "duplicate keys, the first counts: 1 (first: byte 39: b);"},
      {"a control character",
       "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\x01z\",\"pid\":5,\"tid\":6,\"ts\":1,"
       "\"dur\":2}",
       "op a z 1000+2000;",
       "texts with control characters: 1 (first: byte 37: {\"ph\":\"X\",\"cat\":\"cpu_op\","
       "\"name\":\"a z\",\"pid\":5,\"tid\":6,\"ts\":1,\"dur\":2});"},
      {"bytes that are no UTF-8",
       "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\xff\",\"pid\":5,\"tid\":6,\"ts\":1,\"dur\":"
       "2}",
       "op a? 1000+2000;",
       "texts with control characters: 1 (first: byte 37: {\"ph\":\"X\",\"cat\":\"cpu_op\","
       "\"name\":\"a?\",\"pid\":5,\"tid\":6,\"ts\":1,\"dur\":2});"},
      {"an event that is no JSON", op + R"(,{"ph":"X","cat" "cpu_op"},)" + op,
       "op aten::add 1000+2000;op aten::add 1000+2000;",
       "unreadable events: 1 (first: byte 113: {\"ph\":\"X\",\"cat\" \"cpu_op\"});"},
      {"elements that are no events", "1, null, " + op + ", \"x\", []", row,
       "unreadable events: 2 (first: byte 37: 1, null, );"},
      {"a phase that nobody knows", R"({"ph":"Q","name":"b","ts":1},)" + op, row,
       "events of an unknown kind: 1 (first: byte 39: b);"},
      {"a category that nobody knows",
       R"({"ph":"X","cat":"tpu_op","name":"b","pid":5,"tid":6,"ts":1,"dur":2})",
       "other b 1000+2000;", "events of an unknown kind: 1 (first: byte 39: b);"},
      {"a kernel of no device",
       R"({"ph":"X","cat":"kernel","name":"k","pid":"GPU","tid":6,"ts":1,"dur":2},)" + op, row,
       "device events that name no device: 1 (first: byte 39: k);"},
  });
}

TEST(Kineto, SavesWhatIsWholeOfACutFile) {
  const std::string whole = file_of(std::string(kOp) + "," + std::string(kOp));
  for (std::size_t cut = whole.find(kOp) + kOp.size(); cut < whole.size(); ++cut) {
    const Result<Trace> trace = load_kineto(whole.substr(0, cut));
    ASSERT_TRUE(trace) << cut;
    EXPECT_GE(trace->host_events.size(), 1u);
    ASSERT_EQ(trace->losses.size(), 1u) << cut;
    EXPECT_EQ(trace->losses[0].kind, model::LossKind::kTruncated);
  }
  EXPECT_EQ(losses_of(*load_kineto(whole.substr(0, whole.size() - 5))),
            "truncated: 1 (first: byte 185: the file is cut off; 72 bytes of an event are lost);");
}

// Of 60 events, one byte at a time is broken: it may cost that event and one beside it, no more.
TEST(Kineto, OneBrokenByteCostsOneEvent) {
  for (const std::string_view first : {"ph", "name"}) {
    std::string events;
    for (int i = 0; i < 60; ++i) {
      const std::string name = "\"name\":\"a" + std::to_string(i) + "\"";
      events += std::string(i == 0 ? "" : ",\n") + "{" +
                (first == "ph" ? "\"ph\":\"X\"," + name : name + ",\"ph\":\"X\"") +
                R"(,"cat":"cpu_op","pid":1,"tid":1,"ts":)" + std::to_string(100 + i * 10) +
                R"(,"dur":5,"args":{"External id":7,"dims":[[1,2],[3]]}})";
    }
    const std::string whole = R"({"schemaVersion":1,"deviceProperties":[],"traceEvents":[)" +
                              events + R"(],"traceName":"x"})";
    const std::size_t begin = whole.find(events) + 10 * (events.size() / 60);
    for (std::size_t at = begin; at < begin + 2 * (events.size() / 60); ++at) {
      for (const char byte : {'x', '"', '{', '}', '[', ']', '\\', '\x01'}) {
        std::string broken = whole;
        broken[at] = byte;
        const Result<Trace> trace = load_kineto(broken);
        ASSERT_TRUE(trace) << at << " " << byte;
        ASSERT_GE(trace->host_events.size(), 58u) << first << " " << at << " " << byte << "\n"
                                                  << broken.substr(at - 60, 120);
        if (trace->host_events.size() < 60) {
          ASSERT_FALSE(trace->losses.empty()) << at << " " << byte;
        }
      }
    }
  }
}

TEST(Kineto, RefusesWhatHoldsNothing) {
  EXPECT_EQ(load_kineto("{\"schema\": 1}").error().text, "a.json: has no traceEvents list");
  EXPECT_EQ(load_kineto("").error().text, "a.json: has no traceEvents list");
  EXPECT_EQ(load_kineto(file_of("")).error().text, "a.json: has no events");
  EXPECT_EQ(load_kineto(file_of("").substr(0, 37)).error().text,
            "a.json: ends before the first complete event");
}

TEST(Kineto, AddsTheBaseTimeAndKnowsTheRank) {
  const Result<Trace> trace = load_kineto(
      file_of(kOp, R"(, "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},
          "host_name": "h", "baseTimeNanoseconds": 1727743122000000000)"));
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->host_events[0].start.count(), 1'727'743'122'000'001'000);
  EXPECT_EQ(trace->sources[0].rank, 3);
  EXPECT_EQ(trace->sources[0].world_size, 8);
  EXPECT_EQ(trace->sources[0].backend, "nccl");
  EXPECT_EQ(trace->sources[0].host, "h");
  EXPECT_EQ(trace->sources[0].clock, model::Clock::kUnix);
  EXPECT_EQ(load_kineto(file_of(kOp))->sources[0].clock, model::Clock::kUnknown);
}

TEST(Kineto, CountsAFewTimesOf1970AmongThoseOfToday) {
  const auto op = [](const char* ts) {
    return std::string(R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"dur":1,"ts":)") +
           ts + "}";
  };
  const std::string now = op("1727743122000001");
  const Result<Trace> trace = load_kineto(file_of(op("0") + "," + now + "," + now));
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->host_events.size(), 2u);
  EXPECT_EQ(trace->sources[0].clock, model::Clock::kUnix);
  EXPECT_EQ(losses_of(*trace),
            "times out of range: 1 (first: before the year 2000, unlike the other events);");
  const Result<Trace> other = load_kineto(file_of(op("0") + "," + op("5") + "," + now));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->host_events.size(), 3u);
  EXPECT_EQ(other->sources[0].clock, model::Clock::kUnknown);
}

TEST(Kineto, DoesNotAddABaseThatTakesTimesOutOfRange) {
  const Result<Trace> trace = load_kineto(
      file_of(R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":3e15,"dur":1})",
              R"(, "baseTimeNanoseconds": 4000000000000000000)"));
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->host_events[0].start.count(), 3'000'000'000'000'000'000);
  EXPECT_EQ(losses_of(*trace),
            "times out of range: 1 (first: baseTimeNanoseconds 4000000000000000000 is not added);");
}

TEST(Kineto, JoinsLaunchesStacksStepsFlowsAndSyncs) {
  const Result<Trace> trace = load_kineto(file_of(R"json(
    {"ph":"X","cat":"user_annotation","name":"ProfilerStep#12","pid":5,"tid":6,"ts":0,"dur":100},
    {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":5,"tid":6,"ts":1,"dur":20,
     "args":{"External id":1,"Call stack":"a.py(1): inner;b.py(2): outer"}},
    {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":5,"tid":6,"ts":2,"dur":3,
     "args":{"correlation":12345678901}},
    {"ph":"s","id":9,"pid":5,"tid":6,"ts":2,"cat":"ac2g","name":"ac2g"},
    {"ph":"X","cat":"kernel","name":"mm","pid":0,"tid":7,"ts":10,"dur":4,
     "args":{"device":0,"stream":7,"correlation":12345678901,"graph node id":77,
             "est. achieved occupancy %":31}},
    {"ph":"f","id":1,"pid":5,"tid":8,"ts":50,"cat":"fwdbwd","name":"fwdbwd","bp":"e"},
    {"ph":"s","id":1,"pid":5,"tid":6,"ts":1,"cat":"fwdbwd","name":"fwdbwd"},
    {"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":7,"ts":3,"dur":1,
     "args":{"cuda_sync_kind":"Stream Wait Event","stream":7,"correlation":15,"device":0,
             "wait_on_stream":20,"wait_on_cuda_event_record_corr_id":14}},
    {"name":"thread_name","ph":"M","ts":0,"pid":5,"tid":6,
     "args":{"name":"thread 6 (python)"}})json"));
  ASSERT_TRUE(trace);
  EXPECT_EQ(losses_of(*trace), "");
  ASSERT_EQ(trace->host_events.size(), 3u);
  ASSERT_EQ(trace->device_events.size(), 1u);
  const model::DeviceEvent& kernel = trace->device_events[0];
  EXPECT_EQ(kernel.launch, 2u);
  EXPECT_EQ(kernel.occupancy, 31);
  EXPECT_EQ(trace->details[kernel.detail].graph_node, 77u);
  EXPECT_EQ(trace->host_events[2].parent, 1u);
  EXPECT_EQ(trace->host_events[1].parent, 0u);
  const model::StackFrame& inner = trace->stacks[trace->host_events[1].stack];
  EXPECT_EQ(trace->names[inner.function], "a.py(1): inner");
  EXPECT_EQ(trace->names[trace->stacks[inner.caller].function], "b.py(2): outer");
  ASSERT_EQ(trace->steps.size(), 1u);
  EXPECT_EQ(trace->steps[0].number, 12);
  ASSERT_EQ(trace->flows.size(), 1u);
  EXPECT_EQ(trace->flows[0].from.count(), 1000);
  EXPECT_EQ(trace->flows[0].to.count(), 50000);
  ASSERT_EQ(trace->syncs.size(), 1u);
  EXPECT_EQ(trace->syncs[0].kind, model::SyncKind::kStreamWait);
  EXPECT_EQ(trace->streams[trace->syncs[0].awaited_stream].id, 20);
  EXPECT_EQ(trace->names[trace->threads[trace->host_events[0].thread].name], "thread 6 (python)");
}

TEST(Kineto, SurvivesHostileFiles) {
  const std::string op(kOp);
  const auto deep = [](std::size_t depth) {
    return R"({"ph":"X","cat":"cpu_op","name":"deep","pid":5,"tid":6,"ts":1,"dur":2,"args":)" +
           std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  struct Hostile {
    std::string_view what;
    std::string events;
    std::size_t most_lost;
  };
  const std::string long_name(3'000'000, 'n');
  const Hostile kCases[] = {
      {"deep nesting", op + "," + deep(100'000) + "," + op, 1},
      {"nesting without end", op + "," + std::string(20'000'000, '{'), 3},
      {"a name of three megabytes",
       op + R"(,{"ph":"X","cat":"cpu_op","name":")" + long_name +
           R"(","pid":5,"tid":6,"ts":1,"dur":2})",
       1},
      {"a string without end", op + R"(,{"ph":"X","name":")" + std::string(20'000'000, 'x'), 3},
      {"brackets that do not match", op + "," + op.substr(0, op.size() - 1) + "]," + op, 3},
      {"an empty event before a long one",
       "{}," + op.substr(0, op.size() - 1) + R"(,"args":{"pad":")" + std::string(5'000, 'x') +
           "\"}}",
       1},
      {"zeros", op + "," + std::string(1'000'000, '\0') + "," + op, 2},
  };
  for (const Hostile& c : kCases) {
    SCOPED_TRACE(c.what);
    const Result<Trace> trace = load_kineto(file_of(c.events));
    ASSERT_TRUE(trace) << trace.error().text;
    EXPECT_GE(trace->host_events.size(), 1u);
    EXPECT_LE(trace->losses.size(), c.most_lost) << losses_of(*trace);
    for (const model::HostEvent& event : trace->host_events) {
      EXPECT_LE(trace->name(event).size(), 16u * 1024);
    }
  }
}

// Many events of different lengths, some broken.
std::string many_events(int count) {
  std::string events;
  for (int i = 0; i < count; ++i) {
    if (i > 0) events += ",\n";
    if (i % 1000 == 999) {
      events += R"({"ph":"X","cat":"cpu_op" "name":"broken"})";
      continue;
    }
    events +=
        fmt::format(R"({{"ph":"X","cat":"{}","name":"name {}","pid":{},"tid":{},"ts":{},"dur":{},)"
                    R"("args":{{"correlation":{},"device":{},"stream":7,"pad":"{}"}}}})",
                    i % 3 == 0   ? "kernel"
                    : i % 3 == 1 ? "cuda_runtime"
                                 : "cpu_op",
                    i % 97, i % 5, i % 11, i * 3, i % 7, i / 3 + 1, i % 2,
                    std::string(static_cast<std::size_t>(i) % 300, '.'));
  }
  return events;
}

TEST(Kineto, GivesTheSameOnAnyNumberOfThreads) {
  const std::string text = file_of(many_events(20'000));
  const Result<Trace> one = load_kineto(text, {.threads = 1});
  const Result<Trace> three = load_kineto(text, {.threads = 3});
  ASSERT_TRUE(one && three);
  EXPECT_EQ(one->host_events.size() + one->device_events.size(), 20'000u - 20);
  EXPECT_EQ(rows_of(*one), rows_of(*three));
  EXPECT_EQ(losses_of(*one), losses_of(*three));
  EXPECT_EQ(one->names.size(), three->names.size());
}

TEST(Kineto, KeepsWithinItsMemoryBudget) {
  const std::string text = file_of(many_events(20'000));
  const Result<Trace> tight = load_kineto(text, {.memory_bytes = 600'000});
  ASSERT_TRUE(tight);
  EXPECT_LT(tight->host_events.size(), 13'000u);
  ASSERT_FALSE(tight->losses.empty());
  bool said = false;
  for (const model::Loss& loss : tight->losses) {
    said |= loss.kind == model::LossKind::kMerged || loss.kind == model::LossKind::kBudget;
  }
  EXPECT_TRUE(said) << losses_of(*tight);
}

// The last rank must not pay for the first.
TEST(Kineto, RanksShareTheBudget) {
  std::string events;
  for (int i = 0; i < 5000; ++i) {
    events += fmt::format(
        R"({{"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":{},"dur":0.5}},)", i);
    if (i % 50 != 0) continue;
    events += fmt::format(R"({{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{},"dur":9,)"
                          R"("args":{{"device":0,"stream":7}}}},)",
                          i);
  }
  events.pop_back();
  model::TraceBuilder builder;
  for (int rank = 0; rank < 3; ++rank) {
    Input input;
    input.name = fmt::format("rank{}.json", rank);
    input.next = bytes_in(file_of(events));
    ASSERT_TRUE(read(input, {.memory_bytes = 300'000}, builder));
  }
  const Trace trace = std::move(builder).finish();
  EXPECT_EQ(trace.device_events.size(), 300u) << "work of devices is never left out";
  std::string lost;
  for (const model::Loss& loss : trace.losses) {
    lost += fmt::format("{} of {}: {};", loss.count, loss.source, name(loss.kind));
  }
  EXPECT_EQ(trace.host_events.size() % 5000, 0u) << lost;
  EXPECT_EQ(lost.find(name(model::LossKind::kBudget)), std::string::npos) << lost;
  EXPECT_NE(lost.find("5000 of 0: "), std::string::npos) << lost;
  EXPECT_NE(lost.find("5000 of 1: "), std::string::npos) << lost;
}

// ROCm counts processors among its nodes, and lists devices from 0 on.
TEST(Kineto, DevicesThatAreNotListedAreLikeThoseThatAre) {
  const auto name_of = [](std::string_view listed) {
    const Result<Trace> trace = load_kineto(fmt::format(
        R"({{"deviceProperties":[{}],"traceEvents":[{{"ph":"X","cat":"kernel","name":"k","pid":2,)"
        R"("tid":0,"ts":1,"dur":9,"args":{{"device":2,"stream":0}}}}]}})",
        listed));
    EXPECT_TRUE(trace);
    return trace ? std::string(trace->names[trace->devices.at(0).name]) : "";
  };
  EXPECT_EQ(name_of(R"({"id":0,"name":"AMD Instinct MI300X"})"), "AMD Instinct MI300X");
  EXPECT_EQ(name_of(R"({"id":0,"name":"A"},{"id":1,"name":"B"})"), "");
}

TEST(Kineto, ClaimsOnlyWhatItReads) {
  EXPECT_TRUE(claims("\n{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n"));
  EXPECT_TRUE(claims("{\"traceEvents\": ["));
  EXPECT_TRUE(claims("\xEF\xBB\xBF{\"traceEvents\": ["));
  EXPECT_TRUE(claims("[{\"ph\": \"X\", \"ts\": 1"));
  EXPECT_FALSE(claims("{\"schema\": \"1.0.1\", \"pid\": 1, \"nodes\": ["));
  EXPECT_FALSE(claims("SQLite format 3"));
  EXPECT_FALSE(claims(""));
}

}  // namespace
}  // namespace amdahl::trace::kineto
