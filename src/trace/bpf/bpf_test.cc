#include "trace/bpf/bpf.h"

#include <string>

#include <gtest/gtest.h>

#include "model/bpf_lines.h"
#include "trace/testing.h"

namespace amdahl::trace::bpf {
namespace {

using model::BpfSummary;
using model::SingleWait;
using model::ThreadState;
using model::Wait;
using model::WaitReason;
using std::chrono::milliseconds;

constexpr Nanos kStart{1'700'000'000'000'000'000};

// A main thread that waits once for its worker, which is preempted once.
BpfSummary sample() {
  BpfSummary summary;
  summary.host = "h";
  summary.started = kStart;
  summary.wall = milliseconds(100);
  model::TaskWaits main;
  main.tid = main.process = 10;
  main.name = "job";
  main.died = milliseconds(100);
  main.running = milliseconds(57);
  main.runqueue = milliseconds(2);
  main.blocked[0] = milliseconds(41);
  main.blocks[0] = 3;
  model::TaskWaits worker;
  worker.tid = 11;
  worker.process = 10;
  worker.name = "worker";
  worker.born = milliseconds(5);
  worker.died = milliseconds(90);
  worker.running = milliseconds(80);
  worker.preempted = milliseconds(5);
  summary.tasks = {main, worker};
  summary.sites = {{.id = 7,
                    .tid = 10,
                    .reason = Wait::kFutex,
                    .syscall = 202,
                    .count = 1,
                    .time = milliseconds(40),
                    .longest = milliseconds(40),
                    .frames = {{"/lib/libc.so.6", 16, "wait"}, {"/bin/job", 32, ""}}}};
  return summary;
}

std::string record() {
  std::string text = model::bpf_head_line(sample());
  model::append_wait(
      text, {10, 11, Wait::kFutex, 7, milliseconds(20), milliseconds(60), milliseconds(62)});
  model::append_wait(
      text, {11, 0, std::nullopt, 0, milliseconds(30), milliseconds(30), milliseconds(35)});
  model::append_least(text, milliseconds(50), Nanos{40000});
  return text + model::bpf_summary_lines(sample());
}

Result<model::Trace> load_bpf(const std::string& text, const Limits& limits = {}) {
  return load(TRY(reader_named("bpf")), "waits.jsonl", bytes_in(text, 50), limits);
}

std::string shown(const model::Trace& trace) {
  std::string text;
  for (const model::ThreadSpan& span : trace.thread_spans) {
    constexpr std::string_view kStates[] = {"running", "runnable", "blocked"};
    text += std::to_string(trace.threads[span.thread].id) + " " +
            std::string(kStates[static_cast<std::size_t>(span.state)]) + " " +
            std::to_string((span.start - kStart) / milliseconds(1)) + "-" +
            std::to_string((span.start + span.duration - kStart) / milliseconds(1));
    if (span.state == ThreadState::kBlocked) text += " " + std::string(name(span.reason));
    if (span.waker != model::kNone) {
      text += " by " + std::to_string(trace.threads[span.waker].id);
    }
    for (std::uint32_t at = span.stack; at != model::kNone; at = trace.stacks[at].caller) {
      text += " < " + std::string(trace.names[trace.stacks[at].function]);
    }
    text += "\n";
  }
  return text;
}

TEST(Bpf, PlacesAreNamedByTheirLines) {
  model::BpfSummary summary = sample();
  summary.sites[0].frames[0].source = "/src/lock.cc";
  summary.sites[0].frames[0].line = 12;
  const auto innermost = [](const model::BpfSummary& told) {
    std::string text = model::bpf_head_line(told);
    text += model::bpf_summary_lines(told);
    const auto loaded = load_bpf(text);
    EXPECT_TRUE(loaded);
    const model::Trace& trace = *loaded;
    for (const model::ThreadTotal& total : trace.thread_totals) {
      if (total.stack != model::kNone) {
        return std::string(trace.names[trace.stacks[total.stack].function]);
      }
    }
    return std::string();
  };
  EXPECT_EQ(innermost(summary), "wait (lock.cc:12)");
  summary.sites[0].python = {{"/src/job.py", 7, "load"}, {"/src/job.py", 20, "<module>"}};
  EXPECT_EQ(innermost(summary), "load (job.py:7)");
}

TEST(Bpf, WaitsAreSpansWithWhatIsBetweenThem) {
  const auto trace = load_bpf(record());
  ASSERT_TRUE(trace) << trace.error().text;
  EXPECT_EQ(shown(*trace),
            "10 running 0-20\n"
            "11 running 5-30\n"
            "10 blocked 20-60 " +
                std::string(name(WaitReason::kFutex)) +
                " by 11 < wait (libc.so.6) < job+0x20\n"
                "11 runnable 30-35\n"
                "11 running 35-90\n"
                "10 runnable 60-62\n"
                "10 running 62-100\n");
  EXPECT_TRUE(trace->losses.empty());
  EXPECT_EQ(trace->sources[0].host, "h");
  EXPECT_EQ(trace->sources[0].clock, model::Clock::kUnix);
  EXPECT_EQ(trace->names[trace->threads[0].name], "job");
  EXPECT_EQ(trace->processes.size(), 1U);
}

TEST(Bpf, TotalsSumToTheSumsOfTheRecord) {
  const auto trace = load_bpf(record());
  ASSERT_TRUE(trace) << trace.error().text;
  Nanos running{};
  Nanos blocked{};
  std::uint64_t blocks = 0;
  for (const model::ThreadTotal& total : trace->thread_totals) {
    if (total.state == ThreadState::kRunning) running += total.total;
    if (total.state != ThreadState::kBlocked) continue;
    blocked += total.total;
    blocks += total.count;
  }
  EXPECT_EQ(running, milliseconds(137));
  EXPECT_EQ(blocked, milliseconds(41));
  EXPECT_EQ(blocks, 3U);
}

TEST(Bpf, ARecordThatWasCutOffKeepsItsWaits) {
  std::string text = record();
  text.resize(text.find("{\"task\"") + 20);
  const auto trace = load_bpf(text);
  ASSERT_TRUE(trace) << trace.error().text;
  EXPECT_EQ(trace->thread_spans.size(), 3U);
  ASSERT_EQ(trace->losses.size(), 1U);
  EXPECT_EQ(trace->losses[0].kind, model::LossKind::kTruncated);
}

TEST(Bpf, WhatIsDamagedIsCounted) {
  std::string text = record();
  text.insert(text.find("[10,"), "[10,oops]\n");
  const auto trace = load_bpf(text);
  ASSERT_TRUE(trace) << trace.error().text;
  EXPECT_EQ(trace->thread_spans.size(), 7U);
  ASSERT_EQ(trace->losses.size(), 1U);
  EXPECT_EQ(trace->losses[0].kind, model::LossKind::kUnreadable);
  EXPECT_EQ(trace->losses[0].example, "line 2: not a wait: [10,oops]");
}

TEST(Bpf, NothingOfUseIsAnError) {
  EXPECT_EQ(load_bpf("[1,2,3,4,5,6,7]\n").error().text, "waits.jsonl: has no header line");
  EXPECT_EQ(load_bpf("{\"amdahl\":\"waits\",\"version\":9}\n").error().text,
            "waits.jsonl: line 1: version 9 is not supported; this program reads version 1");
}

TEST(Bpf, SpansStayWithinTheBudget) {
  Limits limits;
  limits.memory_bytes = 2 * sizeof(model::ThreadSpan);
  const auto trace = load_bpf(record(), limits);
  ASSERT_TRUE(trace) << trace.error().text;
  EXPECT_EQ(trace->thread_spans.size(), 2U);
  EXPECT_EQ(trace->losses[0].kind, model::LossKind::kBudget);
}

TEST(Bpf, ClaimsItsOwnHead) {
  EXPECT_TRUE(claims(record()));
  EXPECT_FALSE(claims("{\"amdahl\":\"other\"}"));
  EXPECT_EQ(reader_for(record())->name, "bpf");
}

}  // namespace
}  // namespace amdahl::trace::bpf
