#include <barrier>
#include <random>
#include <thread>

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "ledger/sqlite/test_kit.h"
#include "os/files.h"
#include "os/host.h"

// Processes that die at a fault point, and processes that write at the same time.
namespace amdahl::ledger::sqlite {
namespace {

// The one step that can be done now, as a cold cycle would do it from what it reads.
Result<std::vector<Draft>> next_step(Ledger& ledger) {
  const auto flying = TRY(ledger.runs_in_flight());
  for (const model::Pair& run : flying) {
    if (run.state == model::PairState::kReserved) {
      return std::vector{submitted(run.reservation, "w-" + run.reservation)};
    }
  }
  if (!flying.empty()) return std::vector{collected(flying.front().reservation, 1)};
  if (!TRY(ledger.campaign())) {
    return std::vector{campaign_opened("c1", 10'000), family_adopted("f"),
                       draft("budget.set", "accelerator_s", {{"limit", 1e6}})};
  }
  const auto live = TRY(ledger.live_experiments());
  if (live.empty()) {
    const auto all = TRY(ledger.hypotheses("", ""));
    const std::string h = fmt::format("h-{}", all.size());
    return std::vector{proposed(h, h), registered("x" + h, h)};
  }
  const auto& experiment = live.front().experiment;
  const int runs = static_cast<int>(TRY(ledger.runs_of(experiment.id)).size());
  if (runs >= 4) {
    return std::vector{judged(experiment.hypothesis, experiment.id, model::VerdictKind::kRefuted)};
  }
  return std::vector{reserved(fmt::format("r-{}-{}", experiment.id, runs), experiment.id, runs, 2),
                     reserved(fmt::format("r-{}-{}", experiment.id, runs + 100), experiment.id,
                              runs + 100, 2, "same")};
}

// Not a test: what a child process of the tests below does. Writes the number of each event that
// append() has promised to standard output.
TEST(LedgerChild, DISABLED_Steps) {
  const std::string path = os::env_or("LEDGER_TEST_PATH", "");
  const int steps = to_number<int>(os::env_or("LEDGER_TEST_STEPS", "0")).value_or(0);
  auto opened = open_sqlite(path);
  ASSERT_TRUE(opened) << opened.error().text;
  auto ledger = *std::move(opened);
  const int out = ::open((path + ".promised").c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
  for (int i = 0; i < steps; ++i) {
    const auto drafts = next_step(*ledger);
    ASSERT_TRUE(drafts) << drafts.error().text;
    const auto events = ledger->append(*drafts);
    ASSERT_TRUE(events) << events.error().text;
    const std::string line = fmt::format("{}\n", events->back().seq);
    ASSERT_EQ(::write(out, line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
}

TEST(LedgerChild, DISABLED_Notes) {
  const std::string path = os::env_or("LEDGER_TEST_PATH", "");
  const int steps = to_number<int>(os::env_or("LEDGER_TEST_STEPS", "0")).value_or(0);
  auto opened = open_sqlite(path);  // All children make the file at once.
  ASSERT_TRUE(opened) << opened.error().text;
  auto ledger = *std::move(opened);
  for (int i = 0; i < steps; ++i) {
    const auto done = ledger->append(
        std::vector{draft("cycle.noted", fmt::format("pid {}", ::getpid()), {{"i", i}})});
    ASSERT_TRUE(done) << done.error().text;
  }
}

pid_t start(const std::string& test, const std::string& path, int steps, int fault_at) {
  std::vector<std::string> arguments = {os::self_path(), "--gtest_filter=LedgerChild." + test,
                                        "--gtest_also_run_disabled_tests", "--gtest_brief=1"};
  std::vector<std::string> variables = {"LEDGER_TEST_PATH=" + path,
                                        fmt::format("LEDGER_TEST_STEPS={}", steps),
                                        fmt::format("AMDAHL_FAULT_AT={}", fault_at)};
  std::vector<char*> argv;
  std::vector<char*> env;
  for (std::string& text : arguments) argv.push_back(text.data());
  for (std::string& text : variables) env.push_back(text.data());
  argv.push_back(nullptr);
  env.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, 1, (path + ".out").c_str(),
                                     O_WRONLY | O_APPEND | O_CREAT, 0600);
  pid_t child = -1;
  EXPECT_EQ(::posix_spawn(&child, argv[0], &files, nullptr, argv.data(), env.data()), 0);
  ::posix_spawn_file_actions_destroy(&files);
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(LedgerCrash, WhateverWasPromisedIsThereAndNothingIsHalf) {
  const Scratch scratch;
  const std::string path = scratch.path("ledger.db");
  const auto seed = to_number<unsigned>(os::env_or("LEDGER_TEST_SEED", "20240607")).value_or(1);
  fmt::print("LEDGER_TEST_SEED={}\n", seed);
  std::mt19937 draw(seed);
  int killed = 0;
  for (int round = 0; round < 30; ++round) {
    // Each append passes three points, so that all of them are hit.
    const int fault_at = 1 + static_cast<int>(draw() % 36);
    SCOPED_TRACE(fmt::format("round {}, fault at {}", round, fault_at));
    const int status = wait_for(start("DISABLED_Steps", path, 10, fault_at));
    const bool died = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    ASSERT_TRUE(died || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        << *os::read_file(path + ".out");
    killed += died ? 1 : 0;

    auto opened = open_sqlite(path);
    ASSERT_TRUE(opened) << opened.error().text;
    auto ledger = *std::move(opened);
    const auto report = ledger->verify();
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_TRUE(report->ok()) << report->bad_event << ' ' << join(report->differences, "\n");
    const auto promised = os::read_file(path + ".promised");
    // A child that died in its first append has promised nothing yet.
    if (promised && !promised->empty()) {
      const auto last = to_number<std::int64_t>(split(trim(*promised), '\n').back());
      ASSERT_TRUE(last) << *promised;
      EXPECT_GE(report->events, *last);
    }
    for (const auto& run : *ledger->runs_in_flight()) {
      EXPECT_EQ(run.state == model::PairState::kSubmitted, !run.worker_run_id.empty());
    }
  }
  EXPECT_GT(killed, 15);
  EXPECT_LT(killed, 30);
}

// Each must see either no ledger yet or the whole of one, never a header half read. Threads with
// a handle each meet at the file more closely than processes, which start at their own pace.
TEST(LedgerCrash, ManyMayMakeTheFileAtOnce) {
  const Scratch scratch;
  constexpr int kAtOnce = 8;
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    const std::string path = scratch.path(fmt::format("{}.db", round));
    std::vector<std::string> errors(kAtOnce);
    std::barrier together(kAtOnce);
    std::vector<std::thread> threads;
    for (int i = 0; i < kAtOnce; ++i) {
      threads.emplace_back([&, i] {
        together.arrive_and_wait();
        const auto opened = open_sqlite(path);
        if (!opened) errors[static_cast<std::size_t>(i)] = opened.error().text;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(errors, std::vector<std::string>(kAtOnce));
  }
}

TEST(LedgerCrash, ManyProcessesKeepOneChain) {
  const Scratch scratch;
  const std::string path = scratch.path("ledger.db");
  constexpr int kEach = 60;
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) children.push_back(start("DISABLED_Notes", path, kEach, 0));
  for (const pid_t child : children) {
    EXPECT_EQ(wait_for(child), 0) << *os::read_file(path + ".out");
  }
  auto ledger = *open_sqlite(path);
  const auto report = *ledger->verify();
  EXPECT_TRUE(report.ok()) << join(report.differences, "\n");
  EXPECT_EQ(report.events, 3 * kEach);
  for (const pid_t child : children) {
    EXPECT_EQ((*ledger->events(fmt::format("pid {}", child), 0, 1000)).size(), kEach);
  }
}

}  // namespace
}  // namespace amdahl::ledger::sqlite
