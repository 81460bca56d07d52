// The collector against a program that measures its own waits. Needs a kernel that permits BPF:
// elsewhere these are skipped, with the kernel's reason.
#include "observe/bpf/collector.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "model/bpf_lines.h"
#include "observe/testing.h"

namespace amdahl::observe {
namespace {

using model::BpfSummary;
using model::TaskWaits;
using model::Wait;

struct Seen {
  std::map<std::string, double> truth;  // What the program said of itself.
  BpfSummary summary;

  const TaskWaits& task(const std::string& load) const {
    const auto tid = static_cast<std::int64_t>(truth.at(load + ".tid"));
    const auto found = std::ranges::find(summary.tasks, tid, &TaskWaits::tid);
    if (found == summary.tasks.end()) {
      static const TaskWaits kNone;
      ADD_FAILURE() << "thread " << tid << " was not seen";
      return kNone;
    }
    return *found;
  }
};

double nanos(Nanos time) { return static_cast<double>(time.count()); }

double blocked(const TaskWaits& task) {
  return std::accumulate(task.blocked.begin(), task.blocked.end(), 0.0,
                         [](double sum, Nanos time) { return sum + nanos(time); });
}

// Within 5 %; below that, half a millisecond is what starting and printing may add.
void expect_near(double seen, double truth, const std::string& what) {
  EXPECT_NEAR(seen, truth, std::max(0.05 * truth, 5e5)) << what;
}

class CollectorTest : public InFolder {
 protected:
  void SetUp() override {
    CollectorOptions options;
    options.record = path("waits.jsonl");
    auto started = BpfCollector::start(options, os::real_clock());
    if (!started) GTEST_SKIP() << started.error().text;
    collector_ = *std::move(started);
  }

  // Runs the program under the collector.
  Seen run(const std::string& arguments) {
    Seen seen;
    collector_->follow_children();
    FILE* out = ::popen(fmt::format("exec {} {}", TRUTH_PROGRAM, arguments).c_str(), "r");
    collector_->ignore_children();
    char name[64];
    double value = 0;
    while (std::fscanf(out, "%63s %lf", name, &value) == 2) seen.truth[name] = value;
    EXPECT_EQ(::pclose(out), 0);
    auto summary = collector_->stop();
    if (summary) {
      seen.summary = *std::move(summary);
    } else {
      ADD_FAILURE() << summary.error().text;
    }
    EXPECT_EQ(seen.summary.lost_tasks + seen.summary.lost_events, 0);
    return seen;
  }

  struct Told {
    double off = 0;  // The CPU.
    double blocked = 0;
    double queued = 0;
  };

  // What the record says of the stretch that the program measured.
  Told told(const Seen& seen, const std::string& load, Wait reason) {
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
  void check(const Seen& seen, const std::string& load, Wait reason) {
    const TaskWaits& task = seen.task(load);
    const Told in_it = told(seen, load, reason);
    const double off = seen.truth.at(load + ".off");
    expect_near(in_it.off, off, load + ": off the CPU");
    expect_near(in_it.blocked + in_it.queued, off, load + ": for this reason");
    // The kernel's own sum of the wait for a CPU begins a moment after the wake-up.
    EXPECT_LE(in_it.blocked, 1.05 * (off - seen.truth.at(load + ".delay")) + 5e5);
    if (const auto waiting = seen.truth.find(load + ".waiting"); waiting != seen.truth.end()) {
      expect_near(nanos(task.blocked_in(reason)), waiting->second, load + ": until it was ready");
    }
    const double sum =
        nanos(task.running) + nanos(task.runqueue) + nanos(task.preempted) + blocked(task);
    EXPECT_NEAR(sum, nanos(task.life()), 5e5) << "the sum of all states is the thread's life";
    EXPECT_GE(nanos(task.life()), seen.truth.at(load + ".wall"));
  }

  bool is_near(const Seen& seen, const std::string& load, Wait reason) {
    const double off = seen.truth.at(load + ".off");
    return std::abs(told(seen, load, reason).off - off) <= std::max(0.05 * off, 5e5);
  }

  static bool has_frames(const Seen& seen, const std::string& load) {
    const std::int64_t tid = seen.task(load).tid;
    const auto site = std::ranges::find(seen.summary.sites, tid, &model::WaitSite::tid);
    return site != seen.summary.sites.end() && !site->frames.empty() &&
           !site->frames.back().symbol.empty();
  }

  std::string big_file() {
    const std::string made = path("big");
    write("big", std::string(64 << 20, 'x'));
    return made;
  }

  std::unique_ptr<BpfCollector> collector_;
};

TEST_F(CollectorTest, SleepIsTheTruth) {
  const Seen seen = run("sleep");
  check(seen, "sleep", Wait::kSleep);
  // The first may find its timer run out before it sleeps.
  EXPECT_NEAR(
      static_cast<double>(seen.task("sleep").blocks[static_cast<std::size_t>(Wait::kSleep)]), 60,
      1);
}

TEST_F(CollectorTest, FutexIsTheTruthAndTellsWhoWokeWhomAndWhere) {
  Seen seen = run("futex");
  // The stack of a moment cannot always be read, nor the map that its addresses are looked up in.
  for (int again = 0; again < 4 && !has_frames(seen, "futex"); ++again) {
    SetUp();
    seen = run("futex");
  }
  check(seen, "futex", Wait::kFutex);
  const TaskWaits& consumer = seen.task("futex");
  const auto producer = std::ranges::find(seen.summary.tasks, "producer", &TaskWaits::name);
  ASSERT_NE(producer, seen.summary.tasks.end());
  const auto& wakes = seen.summary.wakes;
  const auto woken = std::ranges::find_if(wakes, [&](const model::Wakes& row) {
    return row.waker == producer->tid && row.wakee == consumer.tid;
  });
  ASSERT_NE(woken, wakes.end()) << "the producer woke the consumer";
  expect_near(nanos(woken->blocked), nanos(consumer.blocked_in(Wait::kFutex)), "woken by it");

  const auto site = std::ranges::find(seen.summary.sites, consumer.tid, &model::WaitSite::tid);
  ASSERT_NE(site, seen.summary.sites.end());
  EXPECT_EQ(site->reason, Wait::kFutex);
  std::vector<std::string> names;
  for (const model::WaitFrame& frame : site->frames) names.push_back(frame.symbol);
  EXPECT_TRUE(std::ranges::any_of(names, [](const std::string& name) {
    return name.find("wait_for_item") != name.npos;
  })) << join(names, "\n");
  EXPECT_EQ(names.empty() ? "" : names.back(), "_start");
}

TEST_F(CollectorTest, PollIsTheTruth) { check(run("poll"), "poll", Wait::kPoll); }

TEST_F(CollectorTest, PipeIsTheTruthAndTheForkedChildIsSeen) {
  const Seen seen = run("pipe");
  check(seen, "pipe", Wait::kPipe);
  const auto child = static_cast<std::int64_t>(seen.truth.at("pipe.child"));
  const auto found = std::ranges::find(seen.summary.tasks, child, &TaskWaits::tid);
  ASSERT_NE(found, seen.summary.tasks.end());
  EXPECT_EQ(found->parent, seen.task("pipe").process);
  EXPECT_EQ(found->name, "worker");
  EXPECT_FALSE(found->executed);
  EXPECT_TRUE(seen.task("pipe").executed);
  expect_near(nanos(found->running), 40 * 8e6, "the worker computes");
}

TEST_F(CollectorTest, SocketsAreTheTruth) { check(run("net"), "net", Wait::kNet); }
TEST_F(CollectorTest, ChildrenAreTheTruth) { check(run("child"), "child", Wait::kChild); }

TEST_F(CollectorTest, DiskReadsAreTheTruthWithoutTheWaitForACpuAfterThem) {
  const std::string file = big_file();
  Seen seen = run("read " + file);
  // Interrupts of others' disk traffic fall on the thread, and its CPU clock leaves them out: what
  // it calls off the CPU then is not its wait alone. Another moment is quieter.
  for (int again = 0; again < 4 && !is_near(seen, "read", Wait::kRead); ++again) {
    SetUp();
    seen = run("read " + file);
  }
  check(seen, "read", Wait::kRead);
  std::int64_t own = 0;
  for (const model::DeviceIo& device : seen.summary.devices) own += device.own;
  // A read may be cut into several, and those of the start are there too.
  EXPECT_GE(static_cast<double>(own), 0.95 * seen.truth.at("read.count"));
}

TEST_F(CollectorTest, PageFaultsAreTheTruth) {
  const Seen seen = run("fault");
  if (seen.truth.contains("fault.refused")) GTEST_SKIP() << "the kernel refuses userfaultfd";
  check(seen, "fault", Wait::kFault);
}

// The interrupts of so much writing fall on the thread as well, and its CPU clock leaves them out,
// while the way out of idle is charged to it: what is left of the clock on the wall is its wait
// only roughly.
TEST_F(CollectorTest, SyncsAreAboutTheTruthAndNothingElse) {
  const std::string file = big_file();
  const Seen seen = run("sync " + file);
  const Told in_it = told(seen, "sync", Wait::kSync);
  EXPECT_LE(in_it.off, 1.4 * seen.truth.at("sync.off"));
  EXPECT_GE(in_it.off, 0.6 * seen.truth.at("sync.off"));
  expect_near(in_it.blocked + in_it.queued, in_it.off, "all of it in fsync");
}

TEST_F(CollectorTest, WaitingForACpuIsTheTruth) {
  const Seen seen = run("crowd");
  const TaskWaits& task = seen.task("crowd");
  expect_near(nanos(task.runqueue + task.preempted), seen.truth.at("crowd.delay"), "delay");
  expect_near(nanos(task.running), seen.truth.at("crowd.cpu"), "CPU time");
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
