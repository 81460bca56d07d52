#include "trace/perf/perf.h"

#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "source_dir.h"
#include "trace/perf/record.h"
#include "trace/testing.h"

namespace amdahl::trace::perf {
namespace {

using model::ThreadState;
using model::WaitReason;

// What perf 6.1 printed of a program whose main thread waits for its producer, 10 ms a time.
std::string recorded(const std::string& name) {
  std::ifstream file(AMDAHL_SOURCE_DIR "/src/trace/perf/testdata/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

Result<model::Trace> load_perf(const std::string& text, const Limits& limits = {}) {
  return load(TRY(reader_named("perf")), "perf.txt", bytes_in(text, 100), limits);
}

std::string stack_of(const model::Trace& trace, std::uint32_t stack) {
  std::string text;
  for (; stack != model::kNone; stack = trace.stacks[stack].caller) {
    text += std::string(trace.names[trace.stacks[stack].function]) + "\n";
  }
  return text;
}

TEST(Perf, SamplesHaveTheirStacks) {
  const auto trace = load_perf(recorded("cpu.txt"));
  ASSERT_TRUE(trace) << trace.error().text;
  ASSERT_EQ(trace->stack_samples.size(), 4U);
  const model::StackSample& first = trace->stack_samples.front();
  EXPECT_EQ(first.at, Nanos{26683'348547'000});
  EXPECT_EQ(first.weight, 5025125U);
  EXPECT_EQ(trace->names[first.event], "cpu-clock");
  EXPECT_EQ(trace->threads[first.thread].id, 25839);
  EXPECT_EQ(trace->names[trace->threads[first.thread].name], "producer");
  EXPECT_EQ(stack_of(*trace, first.stack),
            "_raw_spin_unlock_irqrestore (kernel.kallsyms)\n"
            "task_sched_runtime (kernel.kallsyms)\n"
            "posix_cpu_clock_get (kernel.kallsyms)\n"
            "__x64_sys_clock_gettime (kernel.kallsyms)\n"
            "do_syscall_64 (kernel.kallsyms)\n"
            "entry_SYSCALL_64_after_hwframe (kernel.kallsyms)\n"
            "__vdso_clock_gettime (vdso)\n"
            "clock_gettime@@GLIBC_2.17 (libc.so.6)\n");
  EXPECT_TRUE(trace->losses.empty());
}

TEST(Perf, SwitchesAndWakeUpsAreStatesOfThreads) {
  const auto trace = load_perf(recorded("sched.txt"));
  ASSERT_TRUE(trace) << trace.error().text;
  EXPECT_TRUE(trace->losses.empty());
  std::vector<model::ThreadSpan> of_main;
  for (const model::ThreadSpan& span : trace->thread_spans) {
    if (trace->threads[span.thread].id == 32397) of_main.push_back(span);
  }
  const auto at = [](int microseconds) {
    return Nanos{27115'000'000'000} + std::chrono::microseconds(microseconds);
  };
  ASSERT_GE(of_main.size(), 7U);
  EXPECT_EQ(of_main[0].start, at(456460));
  EXPECT_EQ(of_main[0].state, ThreadState::kRunning);
  EXPECT_EQ(of_main[1].state, ThreadState::kBlocked);
  EXPECT_EQ(of_main[1].duration, std::chrono::microseconds(130));
  EXPECT_EQ(of_main[2].state, ThreadState::kRunnable);
  EXPECT_EQ(of_main[2].duration, std::chrono::microseconds(50));
  EXPECT_EQ(of_main[4].start, at(458674));
  EXPECT_EQ(of_main[4].start + of_main[4].duration, at(468782));
  EXPECT_EQ(of_main[4].reason, WaitReason::kFutex);
  EXPECT_EQ(trace->names[trace->threads[of_main[4].waker].name], "producer");
  EXPECT_NE(stack_of(*trace, of_main[4].stack).find("futex_wait"), std::string::npos);
  EXPECT_EQ(of_main[5].state, ThreadState::kRunnable);
  EXPECT_EQ(of_main[5].duration, std::chrono::microseconds(9));
}

TEST(Perf, HeadsOfAllKindsAreRead) {
  struct Case {
    std::string_view line;
    std::string_view want;
  };
  constexpr Case kCases[] = {
      {"python3 12 [001] 1.000002:    101 cpu-clock:pppH: ",
       "python3|-1|12|1000002000|101|cpu-clock|"},
      {"a b 3 11/12 [001] 1.000000002: cycles:u:  7f00 f+0x1 (/l/c.so)",
       "a b 3|11|12|1000000002|1|cycles|7f00 f+0x1 (/l/c.so)"},
      {"  swapper     0 [000] 27115.456460: sched:sched_switch: prev_comm=a",
       "swapper|-1|0|27115456460000|1|sched:sched_switch|prev_comm=a"},
      {":1234 1234 5.5: page-faults: ", ":1234|-1|1234|5500000000|1|page-faults|"},
      {"java  3244 cpu-clock: ", "java|-1|3244|0|1|cpu-clock|"},
      {"func ab 15294/15295 [001]   250000 cycles:u:", "func ab|15294|15295|0|250000|cycles|"},
      {"text 12 more: text:", "none"},
      {"\tffff f+0x1 (/l/c.so)", "none"},
      {"# a comment 1 [001] 1.5: e: ", "none"},
      {"python3 12 [001] 1.0000000021: cycles: ", "none"},
      {"python3 12 [001] 99999999999.1: cycles: ", "none"},
      {"python3 12 [001] 1.5: cycles", "none"},
      {"{\"a\": 1}", "none"},
      {"", "none"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.line);
    const auto head = parse_head(c.line);
    std::string got = "none";
    if (head) {
      got = std::string(head->command) + "|" + std::to_string(head->process) + "|" +
            std::to_string(head->thread) + "|" + std::to_string(head->at.count()) + "|" +
            std::to_string(head->period) + "|" + std::string(head->event) + "|" +
            std::string(head->rest);
    }
    EXPECT_EQ(got, c.want);
  }
}

TEST(Perf, FramesOfAllKindsAreRead) {
  struct Case {
    std::string_view line;
    std::string_view want;
  };
  constexpr Case kCases[] = {
      {"\t    7f12 f(int, char*)+0x1a (/usr/lib/libx.so)", "f(int, char*)|libx.so"},
      {"\tffff81 [unknown] ([unknown])", "[unknown]|unknown"},
      {"\t  55 g (inlined)", "g|"},
      {"\t  55 std::map<int, int>::at", "std::map<int, int>::at|"},
      {"\tnot a frame", "none"},
      {"\t", "none"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.line);
    const auto frame = parse_frame(c.line);
    EXPECT_EQ(frame ? std::string(frame->function) + "|" + std::string(frame->file) : "none",
              c.want);
  }
}

TEST(Perf, SwitchesAsPluginsPrintThemAreRead) {
  const auto trace = load_perf(
      "python3 7 [000] 1.0: sched:sched_switch: kworker/0:1:9 [120] R ==> python3:7 [120]\n\n"
      "python3 7 [000] 2.0: sched:sched_switch: python3:7 [120] S ==> swapper/0:0 [120]\n\n"
      "swapper 0 [000] 5.0: sched:sched_waking: python3:7 [120] CPU:000\n\n"
      "swapper 0 [000] 6.0: sched:sched_switch: swapper/0:0 [120] R ==> python3:7 [120]\n\n");
  ASSERT_TRUE(trace) << trace.error().text;
  EXPECT_TRUE(trace->losses.empty());
  std::string spans;
  for (const model::ThreadSpan& span : trace->thread_spans) {
    spans += std::to_string(trace->threads[span.thread].id) + " " +
             std::to_string(static_cast<int>(span.state)) + " " +
             std::to_string(span.duration.count() / 1'000'000'000) + ";";
  }
  const auto state = [](ThreadState of) { return std::to_string(static_cast<int>(of)); };
  EXPECT_EQ(spans, "7 " + state(ThreadState::kRunning) + " 1;7 " + state(ThreadState::kBlocked) +
                       " 3;7 " + state(ThreadState::kRunnable) + " 1;");
}

TEST(Perf, SamplesNeedNoTimesAndFramesNoTabs) {
  const std::string text =
      "java  3244 cpu-clock: \n  7f1e214c24d9 SpinPause (/jdk/libjvm.so)\n"
      "ffffffff8103d0ca native_write_msr ([kernel.kallsyms])\n\n"
      "java  3245 cpu-clock: \n  7f1e214c24d9 SpinPause (/jdk/libjvm.so)\n\n";
  EXPECT_TRUE(claims(text));
  EXPECT_FALSE(claims("chapter 3 says:\nnothing of use\n"));
  const auto trace = load_perf(text);
  ASSERT_TRUE(trace) << trace.error().text;
  ASSERT_EQ(trace->stack_samples.size(), 2U);
  EXPECT_EQ(stack_of(*trace, trace->stack_samples[0].stack),
            "SpinPause (libjvm.so)\nnative_write_msr (kernel.kallsyms)\n");
  ASSERT_EQ(trace->losses.size(), 1U);
  EXPECT_EQ(describe(trace->losses[0]),
            "events without a usable time: 2 (first: samples without a time; they still count)");
}

TEST(Perf, WhatIsDamagedIsCounted) {
  const auto trace = load_perf(
      "a 1 [000] 2.0: cpu-clock: \n\t10 f+0x1 (x)\n\n"
      "this is not perf\n\n"
      "a 1 [000] 3.0: sched:sched_switch: prev_comm=a prev_pid=1 prev_state=S ==> next_comm=b "
      "next_pid=2 next_prio=1\n\n"
      "b 2 [000] 1.0: sched:sched_switch: prev_comm=b prev_pid=2 prev_state=S ==> next_comm=a "
      "next_pid=1 next_prio=1\n\n"
      "b 2 [000] 4.0: sched:sched_switch: garbage\n\n"
      "b 2 [000] 5.0: sched:sched_waking: comm=a pid=x\n");
  ASSERT_TRUE(trace) << trace.error().text;
  EXPECT_EQ(trace->stack_samples.size(), 1U);
  std::map<model::LossKind, std::uint64_t> lost;
  for (const model::Loss& loss : trace->losses) lost[loss.kind] = loss.count;
  EXPECT_EQ(lost[model::LossKind::kUnreadable], 3U);
  EXPECT_EQ(lost[model::LossKind::kNoTime], 2U);
}

TEST(Perf, NothingOfUseIsAnError) {
  EXPECT_EQ(load_perf("nothing\n").error().text, "perf.txt: has no record of perf script");
}

TEST(Perf, RowsStayWithinTheBudget) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "a 1 " + std::to_string(i) + ".5: cpu-clock: \n\n";
  Limits limits;
  limits.memory_bytes = 10 * sizeof(model::ThreadSpan);
  const auto trace = load_perf(text, limits);
  ASSERT_TRUE(trace) << trace.error().text;
  EXPECT_EQ(trace->stack_samples.size(), 10U);
  ASSERT_EQ(trace->losses.size(), 1U);
  EXPECT_EQ(trace->losses[0].kind, model::LossKind::kBudget);
  EXPECT_EQ(trace->losses[0].count, 90U);
}

TEST(Perf, ClaimsWhatPerfPrintsAndNothingElse) {
  EXPECT_TRUE(claims(recorded("cpu.txt")));
  EXPECT_TRUE(claims(recorded("sched.txt")));
  EXPECT_FALSE(claims("{\"traceEvents\": []}"));
  EXPECT_FALSE(claims("\"ID\",\"Process ID\"\n1,2\n"));
  EXPECT_FALSE(claims(""));
  EXPECT_EQ(reader_for(recorded("sched.txt"))->name, "perf");
}

}  // namespace
}  // namespace amdahl::trace::perf
