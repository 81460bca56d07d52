// The collector against a program that measures its own waits. Needs a kernel that permits BPF:
// elsewhere these are skipped, with the kernel's reason.
#include "observe/bpf/collector.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "model/bpf_lines.h"
#include "observe/bpf/collector_testing.h"

namespace amdahl::observe {
namespace {

using model::BpfSummary;
using model::TaskWaits;
using model::Wait;

double blocked(const TaskWaits& task) {
  return std::accumulate(task.blocked.begin(), task.blocked.end(), 0.0,
                         [](double sum, Nanos time) { return sum + nanos(time); });
}

class CollectorTest : public WithCollector {
 protected:
  struct Told {
    double off = 0;  // The CPU.
    double blocked = 0;
    double queued = 0;
  };

  // What the record says of the stretch that the program measured.
  Told told(const Recorded& seen, const std::string& load, Wait reason) {
    const std::string text = *os::read_file(path("waits.jsonl"));
    BpfSummary read;
    Told sum;
    const auto from = Nanos{static_cast<std::int64_t>(seen.truth.at(load + ".from"))};
    const auto to = Nanos{static_cast<std::int64_t>(seen.truth.at(load + ".to"))};
    const auto inside = [&](Nanos start, Nanos end) {
      start = std::max(from, start + seen.summary.monotonic);
      end = std::min(to, end + seen.summary.monotonic);
      return nanos(std::max(Nanos{}, end - start));
    };
    for (const std::string_view line : split(trim(text), '\n')) {
      model::SingleWait wait;
      const auto kind = model::read_bpf_line(line, read, wait);
      EXPECT_TRUE(kind) << line;
      if (!kind || *kind != model::BpfLine::kWait || wait.tid != seen.task(load).tid) continue;
      sum.off += inside(wait.off, wait.on);
      if (wait.reason == reason) sum.blocked += inside(wait.off, wait.woken);
      sum.queued += inside(wait.woken, wait.on);
    }
    EXPECT_EQ(read, seen.summary);
    return sum;
  }

  // Against the program's own clock: how long it was off the CPU, and where both sides of a wait
  // could tell, how long until what it waited for was there.
  Problems judged(const Recorded& seen, const std::string& load, Wait reason) {
    Problems problems;
    const TaskWaits& task = seen.task(load);
    const Told in_it = told(seen, load, reason);
    const double off = seen.truth.at(load + ".off");
    want_near(in_it.off, off, load + ": off the CPU", problems);
    want_near(in_it.blocked + in_it.queued, off, load + ": for this reason", problems);
    // The kernel's own sum of the wait for a CPU begins a moment after the wake-up.
    want(in_it.blocked <= 1.05 * (off - seen.truth.at(load + ".delay")) + 5e5,
         "blocked no longer than it was off the CPU without waiting for it", problems);
    if (const auto waiting = seen.truth.find(load + ".waiting"); waiting != seen.truth.end()) {
      want_near(nanos(task.blocked_in(reason)), waiting->second, load + ": until it was ready",
                problems);
    }
    const double sum =
        nanos(task.running) + nanos(task.runqueue) + nanos(task.preempted) + blocked(task);
    const double life = nanos(task.life());
    want(std::abs(sum - life) <= std::max(5e5, 0.01 * life),
         "the sum of all states is the thread's life", problems);
    EXPECT_GE(nanos(task.life()), seen.truth.at(load + ".wall"));
    return problems;
  }

  Recorded hold_load(const std::string& load, Wait reason, const std::string& more = "") {
    return hold(fmt::format("{} {} {}", TRUTH_PROGRAM, load, more),
                [&](const Recorded& seen) { return judged(seen, load, reason); });
  }

  static std::vector<std::string> frames_of(const Recorded& seen, const std::string& load) {
    std::vector<std::string> names;
    const std::int64_t tid = seen.task(load).tid;
    const auto site = std::ranges::find(seen.summary.sites, tid, &model::WaitSite::tid);
    if (site == seen.summary.sites.end()) return names;
    for (const model::WaitFrame& frame : site->frames) names.push_back(frame.symbol);
    return names;
  }

  std::string big_file() {
    const std::string made = path("big");
    write("big", std::string(64 << 20, 'x'));
    return made;
  }
};

TEST_F(CollectorTest, SleepIsTheTruth) {
  const Recorded seen = hold_load("sleep", Wait::kSleep);
  // The first may find its timer run out before it sleeps.
  EXPECT_NEAR(
      static_cast<double>(seen.task("sleep").blocks[static_cast<std::size_t>(Wait::kSleep)]), 60,
      1);
}

TEST_F(CollectorTest, FutexIsTheTruthAndTellsWhoWokeWhomAndWhere) {
  const Recorded seen = hold(std::string(TRUTH_PROGRAM) + " futex", [&](const Recorded& now) {
    Problems problems = judged(now, "futex", Wait::kFutex);
    // The stack of a moment cannot always be read, nor the map that its addresses are looked up in.
    const auto names = frames_of(now, "futex");
    want(!names.empty() && names.back() == "_start", "the stack: " + join(names, " < "), problems);
    return problems;
  });
  const TaskWaits& consumer = seen.task("futex");
  const auto producer = std::ranges::find(seen.summary.tasks, "producer", &TaskWaits::name);
  ASSERT_NE(producer, seen.summary.tasks.end());
  const auto& wakes = seen.summary.wakes;
  const auto woken = std::ranges::find_if(wakes, [&](const model::Wakes& row) {
    return row.waker == producer->tid && row.wakee == consumer.tid;
  });
  ASSERT_NE(woken, wakes.end()) << "the producer woke the consumer";
  EXPECT_NEAR(nanos(woken->blocked), nanos(consumer.blocked_in(Wait::kFutex)),
              0.05 * nanos(woken->blocked));
  const auto site = std::ranges::find(seen.summary.sites, consumer.tid, &model::WaitSite::tid);
  ASSERT_NE(site, seen.summary.sites.end());
  EXPECT_EQ(site->reason, Wait::kFutex);
  const auto names = frames_of(seen, "futex");
  EXPECT_TRUE(std::ranges::any_of(names, [](const std::string& name) {
    return name.find("wait_for_item") != name.npos;
  })) << join(names, "\n");
}

TEST_F(CollectorTest, PollIsTheTruth) { hold_load("poll", Wait::kPoll); }

TEST_F(CollectorTest, PipeIsTheTruthAndTheForkedChildIsSeen) {
  const auto child_of = [](const Recorded& seen) {
    const auto child = static_cast<std::int64_t>(seen.truth.at("pipe.child"));
    return std::ranges::find(seen.summary.tasks, child, &TaskWaits::tid);
  };
  const Recorded seen = hold(std::string(TRUTH_PROGRAM) + " pipe", [&](const Recorded& now) {
    Problems problems = judged(now, "pipe", Wait::kPipe);
    const auto found = child_of(now);
    const bool is_seen = found != now.summary.tasks.end();
    EXPECT_TRUE(is_seen);
    if (is_seen) want_near(nanos(found->running), 40 * 8e6, "the worker computes", problems);
    return problems;
  });
  const auto found = child_of(seen);
  ASSERT_NE(found, seen.summary.tasks.end());
  EXPECT_EQ(found->parent, seen.task("pipe").process);
  EXPECT_EQ(found->name, "worker");
  EXPECT_FALSE(found->executed);
  EXPECT_TRUE(seen.task("pipe").executed);
}

TEST_F(CollectorTest, SocketsAreTheTruth) { hold_load("net", Wait::kNet); }
TEST_F(CollectorTest, ChildrenAreTheTruth) { hold_load("child", Wait::kChild); }

// Interrupts of others' disk traffic fall on the thread, and its CPU clock leaves them out: what it
// calls off the CPU then is not its wait alone. Another moment is quieter.
TEST_F(CollectorTest, DiskReadsAreTheTruthWithoutTheWaitForACpuAfterThem) {
  const Recorded seen = hold_load("read", Wait::kRead, big_file());
  std::int64_t own = 0;
  for (const model::DeviceIo& device : seen.summary.devices) own += device.own;
  // A read may be cut into several, and those of the start are there too.
  EXPECT_GE(static_cast<double>(own), 0.95 * seen.truth.at("read.count"));
}

TEST_F(CollectorTest, PageFaultsAreTheTruth) {
  const Recorded seen = hold(std::string(TRUTH_PROGRAM) + " fault", [&](const Recorded& now) {
    if (now.truth.contains("fault.refused")) return Problems{};
    return judged(now, "fault", Wait::kFault);
  });
  if (seen.truth.contains("fault.refused")) GTEST_SKIP() << "the kernel refuses userfaultfd";
}

// The interrupts of so much writing fall on the thread as well, and its CPU clock leaves them out,
// while the way out of idle is charged to it: what is left of the clock on the wall is its wait
// only roughly.
TEST_F(CollectorTest, SyncsAreAboutTheTruthAndNothingElse) {
  hold(fmt::format("{} sync {}", TRUTH_PROGRAM, big_file()), [&](const Recorded& seen) {
    Problems problems;
    const Told in_it = told(seen, "sync", Wait::kSync);
    const double off = seen.truth.at("sync.off");
    want(in_it.off >= 0.6 * off && in_it.off <= 1.4 * off,
         fmt::format("off the CPU: {:.1f} ms, about {:.1f} ms is the truth", in_it.off / 1e6,
                     off / 1e6),
         problems);
    want_near(in_it.blocked + in_it.queued, in_it.off, "all of it in fsync", problems);
    return problems;
  });
}

TEST_F(CollectorTest, WaitingForACpuIsTheTruth) {
  hold(std::string(TRUTH_PROGRAM) + " crowd", [&](const Recorded& seen) {
    Problems problems;
    const TaskWaits& task = seen.task("crowd");
    want_near(nanos(task.runqueue + task.preempted), seen.truth.at("crowd.delay"), "delay",
              problems);
    want_near(nanos(task.running), seen.truth.at("crowd.cpu"), "CPU time", problems);
    return problems;
  });
}

TEST_F(CollectorTest, FollowsAProcessThatLivesAlready) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(TRUTH_PROGRAM, TRUTH_PROGRAM, "spin", "300000000", nullptr);
    ::_exit(1);
  }
  const auto followed = collector_->follow({child});
  if (!followed) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    GTEST_SKIP() << followed.error().text;
  }
  ::waitpid(child, nullptr, 0);
  const auto summary = collector_->stop();
  ASSERT_TRUE(summary) << summary.error().text;
  ASSERT_EQ(summary->tasks.size(), 1U);
  EXPECT_EQ(summary->tasks[0].tid, child);
  EXPECT_GT(nanos(summary->tasks[0].running), 100e6);
}

TEST_F(CollectorTest, OthersAreNotSeen) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  const auto summary = collector_->stop();
  ASSERT_TRUE(summary) << summary.error().text;
  EXPECT_TRUE(summary->tasks.empty());
}

}  // namespace
}  // namespace amdahl::observe
