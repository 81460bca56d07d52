#include <csignal>

#include <fmt/format.h>
#include <unistd.h>

#include "launch/local/arms.h"
#include "launch/local/testing.h"
#include "model/codec.h"

namespace amdahl::launch::local {
namespace {

using namespace std::chrono_literals;
using model::Ending;

// Says that it is there and waits for the other one: two that run in turn never end.
std::string meet(const std::string& own, const std::string& other) {
  return fmt::format("touch {}; while [ ! -e {} ]; do sleep 0.01; done; ", own, other);
}

// The neighbours of this run: whatever else, but a guard, the shell's parent has for children. One
// line each.
constexpr const char* kListNeighbours =
    "for p in $(cat /proc/$PPID/task/$PPID/children); do"
    " if [ $p != $$ ] && [ $(cat /proc/$p/comm) != amdahl-guard ]; then"
    " echo $p $(grep Cpus_allowed_list /proc/$p/status); fi; done; ";

constexpr const char* kLeavePid = "echo $$ > %.tmp; mv %.tmp %; ";

std::string leave_pid(const std::string& file) {
  std::string text = kLeavePid;
  for (std::size_t at = 0; (at = text.find('%', at)) != text.npos;) text.replace(at, 1, file);
  return text;
}

class FinerTest : public LocalTest {
 protected:
  void SetUp() override {
    cpus_ = os::usable_cpus();
    if (cpus_.size() < 2) GTEST_SKIP() << "needs two CPUs";
    cpus_.resize(2);
  }

  PairRequest at_once(const std::string& a, const std::string& b) const {
    PairRequest made = request(a, b);
    made.concurrent = true;
    made.cpus = cpus_;
    return made;
  }
  PairRequest beside(const std::string& a, const std::string& b) const {
    PairRequest made = request(a, b);
    made.contended = true;
    made.cpus = {cpus_[0]};
    return made;
  }
  PairRequest block(const std::vector<std::string>& scripts, std::vector<int> order) const {
    PairRequest made = request(scripts[0], scripts[1]);
    for (std::size_t i = 2; i < scripts.size(); ++i) {
      made.more.push_back(made.a);
      made.more.back().argv = {"sh", "-c", scripts[i]};
    }
    made.order = std::move(order);
    return made;
  }
  Receipts finish(const PairRequest& made) {
    const auto submitted = hand_over(*launcher_, made);
    EXPECT_TRUE(submitted);
    EXPECT_EQ(wait_for({RunState::kFinished, RunState::kLost}), RunState::kFinished);
    return *launcher_->collect({"r-1"});
  }

  std::vector<int> cpus_;
};

TEST_F(FinerTest, ArmsAtOnceHaveAHalfEachThatTheCoinSwaps) {
  const std::string show = "grep Cpus_allowed_list /proc/self/status";
  PairRequest made = at_once(meet("a", "b") + show, meet("b", "a") + show);
  Receipts receipts = finish(made);
  EXPECT_EQ(receipts.problem, "");
  EXPECT_EQ(receipts.a->cpus, std::vector<int>{cpus_[0]});
  EXPECT_EQ(receipts.b->cpus, std::vector<int>{cpus_[1]});
  EXPECT_EQ(receipts.a->stdout_tail, fmt::format("Cpus_allowed_list:\t{}\n", cpus_[0]));
  EXPECT_EQ(receipts.b->stdout_tail, fmt::format("Cpus_allowed_list:\t{}\n", cpus_[1]));
  EXPECT_EQ(receipts.a->id, "r-1/A");
  EXPECT_EQ(receipts.b->plan_digest, model::digest(made.b));

  made.reservation = "r-2";
  made.variant_second = false;
  receipts = *run_here(path("state"), made);
  EXPECT_EQ(receipts.a->cpus, std::vector<int>{cpus_[1]});
  EXPECT_EQ(receipts.b->cpus, std::vector<int>{cpus_[0]});
}

TEST_F(FinerTest, OnePlanTwiceAtOnceHasTwoStateFolders) {
  PairRequest made = at_once("echo {state}", "echo {state}");
  const Receipts receipts = finish(made);
  EXPECT_EQ(receipts.a->plan_digest, receipts.b->plan_digest);
  const std::string folder = path("state/plans/") + model::digest(made.a);
  EXPECT_EQ(receipts.a->stdout_tail, folder + "\n");
  EXPECT_EQ(receipts.b->stdout_tail, folder + "-B\n");
}

TEST_F(FinerTest, OneOfTwoThatFailsLeavesTheOtherAlone) {
  PairRequest made = at_once("true", meet("b", "a"));
  made.a.argv = {"sh", "-c", "while [ ! -e b ]; do sleep 0.01; done; touch a; exit 3"};
  const Receipts receipts = finish(made);
  EXPECT_EQ(receipts.a->reason, "exit 3");
  EXPECT_TRUE(model::succeeded(*receipts.b));
}

TEST_F(FinerTest, CancellingEndsBothAndTheirTrees) {
  const std::string stay = "setsid sleep 100 & echo $! > X.tmp; mv X.tmp X; sleep 100";
  std::string a = stay;
  std::string b = stay;
  for (std::size_t at = 0; (at = a.find('X', at)) != a.npos; ++at) a[at] = 'a';
  for (std::size_t at = 0; (at = b.find('X', at)) != b.npos; ++at) b[at] = 'b';
  ASSERT_TRUE(hand_over(*launcher_, at_once(a, b)));
  wait_for_file("a");
  wait_for_file("b");
  ASSERT_TRUE(launcher_->cancel({"r-1"}));
  EXPECT_EQ(wait_for({RunState::kFinished, RunState::kLost}), RunState::kFinished);
  const Receipts receipts = *launcher_->collect({"r-1"});
  EXPECT_EQ(receipts.a->ending, Ending::kCancelled);
  EXPECT_EQ(receipts.b->ending, Ending::kCancelled);
  EXPECT_NE(::kill(pid_in("a"), 0), 0);
  EXPECT_NE(::kill(pid_in("b"), 0), 0);
}

TEST_F(FinerTest, AKilledWorkerTakesBothArmsAndItsNeighboursAlong) {
  PairRequest made = at_once(leave_pid("a") + "sleep 100", leave_pid("b") + "sleep 100");
  made.contended = true;
  ASSERT_TRUE(hand_over(*launcher_, made));
  wait_for_file("a");
  wait_for_file("b");
  const std::string children = fmt::format("/proc/{0}/task/{0}/children", worker_pid());
  const std::string pids = *os::read_file(children);
  ASSERT_EQ(split(trim(pids), ' ').size(), 4U) << "two neighbours and two supervisors: " << pids;
  ::kill(worker_pid(), SIGKILL);
  EXPECT_EQ(wait_for({RunState::kLost, RunState::kFinished}), RunState::kLost);
  wait_for_death(pid_in("a"));
  wait_for_death(pid_in("b"));
  for (const std::string_view pid : split(trim(pids), ' ')) {
    wait_for_death(*to_number<pid_t>(pid));
  }
  ASSERT_TRUE(run_pair(run_folder().path));
  EXPECT_EQ(status_of(*launcher_, {"r-1"}).state, RunState::kLost)
      << "never again under this reservation";
}

TEST_F(FinerTest, ArmsAtOnceHaveDevicesOfTheirOwn) {
  ::setenv("AMDAHL_NVML_LIB", FAKE_NVML, 1);
  ::setenv("FAKE_NVML_BUSY", "70,20,40,10", 1);
  PairRequest made = at_once("echo $CUDA_VISIBLE_DEVICES", "echo $CUDA_VISIBLE_DEVICES");
  made.a.accelerators = 2;
  Receipts receipts = finish(made);
  EXPECT_EQ(receipts.a->stdout_tail, "0,1\n");
  EXPECT_EQ(receipts.b->stdout_tail, "2\n");
  made.reservation = "r-2";
  made.a.accelerators = 3;
  receipts = *run_here(path("state"), made);
  EXPECT_EQ(receipts.a->reason,
            "concurrent arms need 6 GPUs (3 each), but there are 4; set pairing = "
            "\"same-allocation\" in the spec");
  ::unsetenv("AMDAHL_NVML_LIB");
  ::unsetenv("FAKE_NVML_BUSY");
}

TEST(DevicesTest, AreTheHalfOfThoseThatTheJobMaySee) {
  using Visible = std::optional<std::string>;
  struct Case {
    Visible visible;
    int count, half, each, wanted;
    const char* want;
  };
  const Case cases[] = {
      {std::nullopt, 0, 1, 1, 1, ""},          {std::nullopt, 4, 1, 2, 2, "2,3"},
      {std::nullopt, 4, 0, 2, 1, "0"},         {Visible("5, 7,GPU-1"), 8, 1, 1, 1, "7"},
      {Visible(""), 4, 0, 1, 1, ""},           {Visible("-1"), 4, 0, 1, 1, ""},
      {Visible("3,2,1,0"), 4, 1, 2, 2, "1,0"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(*devices_for(c.visible, c.count, c.half, c.each, c.wanted), c.want);
  }
}

TEST_F(FinerTest, NeighboursSitOnTheSlotsAndAreNotTheJobs) {
  PairRequest made = beside(std::string(kListNeighbours) + "sleep 0.5", kListNeighbours);
  const Receipts receipts = finish(made);
  EXPECT_EQ(receipts.problem, "");
  const std::string& listed = receipts.a->stdout_tail;
  EXPECT_TRUE(listed.ends_with(fmt::format(" Cpus_allowed_list: {}\n", cpus_[0]))) << listed;
  EXPECT_EQ(std::ranges::count(listed, '\n'), 1) << listed;
  EXPECT_EQ(listed, receipts.b->stdout_tail) << "the same one beside both arms";
  EXPECT_EQ(receipts.a->left_behind, 0);
  EXPECT_LE(receipts.a->peak_threads, 4);
  EXPECT_GT(receipts.a->noise.foreign_cpu_cores, 0.1) << "they are the host's noise";
  EXPECT_NE(::kill(*to_number<pid_t>(listed.substr(0, listed.find(' '))), 0), 0);
}

TEST_F(FinerTest, WithoutItsNeighboursARunTestedNothing) {
  const Receipts receipts =
      finish(beside(fmt::format("set -- $({}); kill -9 $1", kListNeighbours), "true"));
  EXPECT_EQ(receipts.problem, "a load process died while the arms ran");
  EXPECT_FALSE(receipts.a || receipts.b);
}

TEST_F(FinerTest, ABlockRunsInItsOrderAndAFailureStopsNoOne) {
  std::vector<std::string> scripts;
  for (const char* arm : {"A", "B", "C", "D", "E"}) {
    scripts.push_back(fmt::format("echo {0} >> order; echo {0}", arm));
  }
  scripts[2] += "; exit 3";
  const PairRequest made = block(scripts, {3, 2, 0, 4, 1});
  const Receipts receipts = finish(made);
  EXPECT_EQ(receipts.problem, "");
  EXPECT_EQ(*os::read_file(path("order")), "D\nC\nA\nE\nB\n");
  ASSERT_EQ(receipts.more.size(), 3U);
  EXPECT_EQ(receipts.a->stdout_tail, "A\n");
  EXPECT_EQ(receipts.b->stdout_tail, "B\n");
  EXPECT_EQ(receipts.more[0]->reason, "exit 3");
  EXPECT_EQ(receipts.more[1]->stdout_tail, "D\n");
  EXPECT_EQ(receipts.more[2]->id, "r-1/E");
  EXPECT_EQ(receipts.more[2]->arm, "E");
  EXPECT_EQ(receipts.more[2]->plan_digest, model::digest(made.more[2]));
  EXPECT_LT(receipts.a->started, receipts.more[2]->started);
}

TEST_F(FinerTest, ACancelledBlockEndsTheArmUnderWayAndStartsNoMore) {
  ASSERT_TRUE(hand_over(
      *launcher_,
      block({"true", "touch ran", leave_pid("pid") + "sleep 100", "touch ran"}, {0, 2, 1, 3})));
  wait_for_file("pid");
  ASSERT_TRUE(launcher_->cancel({"r-1"}));
  EXPECT_EQ(wait_for({RunState::kFinished, RunState::kLost}), RunState::kFinished);
  const Receipts receipts = *launcher_->collect({"r-1"});
  EXPECT_TRUE(model::succeeded(*receipts.a));
  EXPECT_EQ(receipts.more[0]->ending, Ending::kCancelled);
  EXPECT_EQ(receipts.b->reason, "the run was cancelled");
  EXPECT_EQ(receipts.more[1]->reason, "the run was cancelled");
  EXPECT_FALSE(os::exists(path("ran")));
}

TEST_F(FinerTest, ABlockWhoseWorkerDiesIsLost) {
  ASSERT_TRUE(
      hand_over(*launcher_, block({"true", leave_pid("pid") + "sleep 100", "true"}, {0, 1, 2})));
  wait_for_file("pid");
  ::kill(worker_pid(), SIGKILL);
  EXPECT_EQ(wait_for({RunState::kLost, RunState::kFinished}), RunState::kLost);
  wait_for_death(pid_in("pid"));
  const Receipts left = *launcher_->collect({"r-1"});
  EXPECT_TRUE(left.lost);
  EXPECT_TRUE(left.a);
  EXPECT_EQ(left.under_way, "B");
  EXPECT_EQ(left.problem, "the worker died without writing receipts while B ran");
}

TEST_F(FinerTest, APersonWhoWaitsCanStopARun) {
  PairRequest made = request("kill -INT $PPID; sleep 100", "touch b_ran");
  Receipts receipts = *run_here(path("state"), made);
  EXPECT_EQ(receipts.a->reason, "cancelled by SIGINT");
  EXPECT_EQ(receipts.b->reason, "the run was cancelled");
  EXPECT_FALSE(os::exists(path("b_ran")));

  made = at_once(meet("a", "b") + fmt::format("kill -INT {}; sleep 100", ::getpid()),
                 meet("b", "a") + "sleep 100");
  made.reservation = "r-2";
  receipts = *run_here(path("state"), made);
  EXPECT_EQ(receipts.a->reason, "cancelled by SIGINT");
  EXPECT_EQ(receipts.b->reason, "cancelled by SIGINT");
}

TEST_F(FinerTest, WhatIsWrongWithARequestIsTheProblemAndNothingRuns) {
  const auto with = [&](const std::function<void(PairRequest&)>& change) {
    PairRequest made = request("touch ran", "touch ran");
    made.cpus = cpus_;
    change(made);
    return made;
  };
  struct Case {
    PairRequest request;
    const char* want;
  };
  const Case cases[] = {
      {with([](PairRequest& r) {
         r.concurrent = true, r.cpus = {0, 1, 2};
       }),
       "concurrent arms need an even number of CPU slots, at least 2, not 3; add slots or set "
       "pairing = \"same-allocation\" in the spec"},
      {with([](PairRequest& r) { r.concurrent = true, r.cpus = {}; }),
       "concurrent arms need an even number of CPU slots, at least 2, not 0; add slots or set "
       "pairing = \"same-allocation\" in the spec"},
      {with([](PairRequest& r) { r.concurrent = r.steps = true; }),
       "the request must be at most one of: a profile, concurrent arms, arms by steps, a block"},
      {with([](PairRequest& r) { r.contended = true, r.cpus = {}; }),
       "a contended run needs CPU slots, and the request has none"},
      {with([](PairRequest& r) { r.contended = true, r.cpus = {1000}; }),
       "cannot start a load process on CPU 1000: Invalid argument"},
      {with([](PairRequest& r) { r.contended = true, r.cpus = {1 << 20}; }),
       "cannot start a load process on CPU 1048576: Invalid argument"},
      {with([](PairRequest& r) {
         r.more = {r.a, r.a, r.a, r.a};
       }),
       "a block holds at most 4 variants, not 5"},
      {with([](PairRequest& r) {
         r.more = {r.a}, r.order = {0, 1, 1};
       }),
       "the order 0,1,1 must name each of the 3 arms exactly once"},
      {with([](PairRequest& r) { r.steps = true; }),
       "arms by steps need a schedule, and the request has none"},
      {with([](PairRequest& r) {
         r.steps = true, r.schedule = "ABBA", r.spec.metric = "tokens_per_s";
       }),
       "steps are compared by accelerator_seconds_per_work, but the spec's metric is "
       "tokens_per_s; set pairing = \"same-allocation\" in the spec"},
      {with([](PairRequest& r) { r.steps = true, r.schedule = "ABBA", r.b.accelerators = 2; }),
       "the arms differ in their accelerators, which a running process cannot switch; set pairing "
       "= \"same-allocation\" in the spec"},
  };
  int number = 0;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.want);
    PairRequest made = c.request;
    made.reservation = fmt::format("r-{}", ++number);
    const auto receipts = run_here(path("state"), made);
    ASSERT_TRUE(receipts) << receipts.error().text;
    EXPECT_EQ(receipts->problem, c.want);
    EXPECT_FALSE(receipts->a || receipts->b);
    EXPECT_EQ(status_of(*launcher_, {made.reservation}).state, RunState::kFinished);
  }
  EXPECT_FALSE(os::exists(path("ran")));
}

}  // namespace
}  // namespace amdahl::launch::local
