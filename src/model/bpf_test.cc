#include <gtest/gtest.h>

#include "base/text.h"
#include "model/bpf_lines.h"

namespace amdahl::model {
namespace {

BpfSummary sample() {
  BpfSummary summary;
  summary.collector = "proc";
  summary.why_not = "not root";
  summary.host = "h";
  summary.started = Nanos{1'700'000'000'000'000'000};
  summary.monotonic = Nanos{5};
  summary.wall = Nanos{1000};
  summary.collector_cpu = Nanos{7};
  summary.sample_every = Nanos{10};
  TaskWaits task;
  task.tid = 12;
  task.process = 11;
  task.parent = 1;
  task.name = "a \"name\"\n";
  task.executed = true;
  task.executed_at = Nanos{4};
  task.born = Nanos{3};
  task.died = Nanos{900};
  task.running = Nanos{100};
  task.runqueue = Nanos{20};
  task.preempted = Nanos{30};
  task.blocked[0] = Nanos{400};
  task.blocks[0] = 4;
  task.wakeups = 4;
  task.preemptions = 2;
  task.yields = 1;
  task.syscalls = 77;
  task.minor_faults = 5;
  task.major_faults = 6;
  task.runqueue_waits = 4;
  task.longest_runqueue = Nanos{9};
  task.runqueue_histogram[3] = 4;
  summary.tasks = {task};
  summary.sites = {
      {.id = 1,
       .tid = 12,
       .reason = Wait::kFutex,
       .syscall = 202,
       .count = 4,
       .time = Nanos{400},
       .longest = Nanos{200},
       .frames = {{"/lib/libc.so.6", 0xFFFFFFFFFFFFFFFF, "wait"}, {"/bin/a", 1, ""}}},
      {.id = 2,
       .tid = 11,
       .reason = Wait::kSleep,
       .syscall = 230,
       .count = 1,
       .time = Nanos{100},
       .longest = Nanos{100},
       .frames = {{"/bin/a", 1, "inlined", "/src/a.h", 3}, {"/bin/a", 1, "main", "/src/a.cc", 7}},
       .python = {{"/src/größe.py", 12, "Loader.next"}, {"<string>", 1, "<module>"}}}};
  summary.running = {{11, 40, {}, {{"/src/a.py", 4, "decode"}}},
                     {12, 2, {{"/bin/a", 9, "work", "/src/a.cc", 30}}, {}}};
  summary.run_sample_every = Nanos{1000};
  summary.lost_samples = 3;
  summary.wakes = {{0, 12, 3, Nanos{300}}, {11, 12, 1, Nanos{100}}};
  DeviceIo device;
  device.name = "vda";
  device.reads = 3;
  device.read_time = Nanos{50};
  device.histogram[31] = 3;
  summary.devices = {device};
  summary.lost_events = 8;
  return summary;
}

TEST(BpfLines, WhatIsWrittenIsRead) {
  const BpfSummary written = sample();
  const SingleWait blocked{12, 11, Wait::kFutex, 1, Nanos{100}, Nanos{150}, Nanos{160}};
  const SingleWait preempted{12, 0, std::nullopt, 0, Nanos{200}, Nanos{200}, Nanos{260}};
  std::string text = bpf_head_line(written);
  EXPECT_TRUE(text.starts_with(kBpfHead)) << text;
  append_wait(text, blocked);
  append_wait(text, preempted);
  append_least(text, Nanos{300}, Nanos{40000});
  text += bpf_summary_lines(written);

  BpfSummary read;
  std::vector<SingleWait> waits;
  BpfLine last = BpfLine::kPart;
  for (const std::string_view line : split(trim(text), '\n')) {
    SingleWait wait;
    const auto kind = read_bpf_line(line, read, wait);
    ASSERT_TRUE(kind) << line << ": " << kind.error().text;
    if (*kind == BpfLine::kWait) waits.push_back(wait);
    last = *kind;
  }
  EXPECT_EQ(read, written);
  EXPECT_EQ(waits, (std::vector{blocked, preempted}));
  EXPECT_EQ(last, BpfLine::kEnd);
}

TEST(BpfLines, WhatIsWrongIsSaid) {
  struct Case {
    std::string_view line;
    std::string_view want;
  };
  constexpr Case kCases[] = {
      {"[1,2]", "not a wait: [1,2]"},
      {"[1,2,3,4,5,6,7] ", "well"},
      {"[1,2,99,4,5,6,7]", "well"},
      {"[1,2,-2,4,5,6,7]", "not a wait: [1,2,-2,4,5,6,7]"},
      {"[1,2,3,4,-5,6,7]", "not a wait: [1,2,3,4,-5,6,7]"},
      {"[1,2,3,4,5,6,7]]", "not a wait: [1,2,3,4,5,6,7]]"},
      {"[1,2,3,4,9223372036854775807,9223372036854775807,1]",
       "not a wait: [1,2,3,4,9223372036854775807,9223372036854775807,1]"},
      {R"({"amdahl":"waits","version":2})",
       "version 2 is not supported; this program reads version 1"},
      {R"({"amdahl":"other","version":1})", "line/amdahl: must be \"waits\""},
      {R"({"task":{"tid":-1}})", "task/tid: must be not negative"},
      {R"({"task":{"tid":18446744073709551615}})", "task/tid: must be at most 9007199254740992"},
      {R"({"task":{"running":1.5}})", "task/running: must be a whole number"},
      {R"({"task":[]})", "task: must be an object"},
      {R"({"task":{"blocked":{"futex":[1]}}})",
       "task/blocked: must be a time and a count for each reason"},
      {R"({"task":{"blocked":{"futex":[1,-1]}}})",
       "task/blocked: must be whole numbers that are not negative"},
      {R"({"site":{"frames":[["a",-1,"b"]]}})",
       "site/frames: must be a list of file, offset and symbol, or these with source and line"},
      {R"({"site":{"frames":[["a",1,"b","c",-1]]}})",
       "site/frames: must be whole numbers that are not negative"},
      {R"({"site":{"python":[["a",1]]}})",
       "site/python: must be a list of file, line and function"},
      {R"({"running":{"samples":-1}})", "running/samples: must be not negative"},
      {R"({"wakes":[[1,2,3]]})", "line/wakes: must be a list of waker, wakee, count and time"},
      {R"({"later":"more"})", "well"},
      {"1", "line: must be an object"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.line);
    BpfSummary summary;
    SingleWait wait;
    const auto got = read_bpf_line(c.line, summary, wait);
    EXPECT_EQ(got ? "well" : got.error().text, c.want);
  }
}

}  // namespace
}  // namespace amdahl::model
