#include "launch/local/local.h"

#include <csignal>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "launch/local/testing.h"
#include "model/codec.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/host.h"
#include "os/lock.h"

namespace amdahl::launch::local {
namespace {

using namespace std::chrono_literals;
using model::Ending;

TEST_F(LocalTest, APairLeavesTwoSealedReceipts) {
  EXPECT_EQ(status_of(*launcher_, {"r-1"}).state, RunState::kAbsent);
  EXPECT_EQ(status_of(*launcher_, {"r-1"}).worker, "");
  const auto worker =
      hand_over(*launcher_, request("echo a; echo a >> order", "echo b; echo b >> order"));
  ASSERT_TRUE(worker) << worker.error().text;
  EXPECT_EQ(*worker, "local:" + os::host_name() + ":r-1");
  EXPECT_EQ(status_of(*launcher_, {"r-1"}).worker, *worker);
  EXPECT_EQ(wait_for({RunState::kFinished, RunState::kLost}), RunState::kFinished);
  const Receipts receipts = *launcher_->collect({"r-1"});
  EXPECT_EQ(receipts.problem, "");
  ASSERT_TRUE(receipts.a && receipts.b);
  EXPECT_EQ(receipts.a->id, "r-1/A");
  EXPECT_EQ(receipts.a->arm, "A");
  EXPECT_EQ(receipts.a->stdout_tail, "a\n");
  EXPECT_EQ(receipts.b->stdout_tail, "b\n");
  EXPECT_LT(receipts.a->started, receipts.b->started);
  EXPECT_EQ(*os::read_file(path("order")), "a\nb\n");
  EXPECT_EQ(*os::read_file(receipts.out_b + "/stdout"), "b\n");
  EXPECT_NE(receipts.a->plan_digest, receipts.b->plan_digest);
}

TEST_F(LocalTest, ATypedCommandIsRunFromMemoryAndItsSecretsAreNotKept) {
  PairRequest typed = request("true", "true");
  typed.a.argv = {"sh", "-c", "echo $2 > " + path("seen"), "sh", "--password", "hunter2secret"};
  const auto receipts = run_here(path("state"), typed);
  ASSERT_TRUE(receipts) << receipts.error().text;
  EXPECT_EQ(*os::read_file(path("seen")), "hunter2secret\n");
  EXPECT_EQ(os::read_file(run_folder().request())->find("hunter2secret"), std::string::npos);
}

TEST_F(LocalTest, TheDrawnOrderIsKept) {
  PairRequest made = request("echo a >> order", "echo b >> order");
  made.variant_second = false;
  ASSERT_TRUE(hand_over(*launcher_, made));
  wait_for({RunState::kFinished});
  EXPECT_EQ(*os::read_file(path("order")), "b\na\n");
  const Receipts receipts = *launcher_->collect({"r-1"});
  EXPECT_LT(receipts.b->started, receipts.a->started);
}

TEST_F(LocalTest, OneReservationRunsOnceHoweverOftenItIsSubmitted) {
  const PairRequest made = request("echo a >> order; sleep 0.2", "echo b >> order");
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(hand_over(*launcher_, made));
  wait_for({RunState::kFinished});
  ASSERT_TRUE(hand_over(*launcher_, made));
  ASSERT_TRUE(run_pair(run_folder().path));
  while (os::FileLock::is_held(run_folder().claim())) os::real_clock().sleep(5ms);
  EXPECT_EQ(*os::read_file(path("order")), "a\nb\n");
}

TEST_F(LocalTest, AKilledWorkerIsLostAndItsJobDiesWithIt) {
  ASSERT_TRUE(
      hand_over(*launcher_, request("echo $$ > pid.tmp; mv pid.tmp pid; sleep 100", "true")));
  wait_for_file("pid");
  EXPECT_EQ(status_of(*launcher_, {"r-1"}).state, RunState::kRunning);
  ::kill(worker_pid(), SIGKILL);
  EXPECT_EQ(wait_for({RunState::kLost}), RunState::kLost);
  wait_for_death(pid_in("pid"));
  // Never again under this reservation.
  ASSERT_TRUE(run_pair(run_folder().path));
  EXPECT_EQ(status_of(*launcher_, {"r-1"}).state, RunState::kLost);
  EXPECT_TRUE(launcher_->collect({"r-1"})->lost);
  EXPECT_EQ(launcher_->collect({"r-1"})->under_way, "A");
}

TEST_F(LocalTest, TheWorkerOutlivesWhoeverSubmittedIt) {
  const pid_t submitter = ::fork();
  if (submitter == 0) {
    const bool submitted{hand_over(*launcher_, request("sleep 0.2; echo a", "echo b"))};
    ::kill(::getpid(), submitted ? SIGKILL : SIGABRT);
  }
  int status = 0;
  ::waitpid(submitter, &status, 0);
  ASSERT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_EQ(wait_for({RunState::kFinished, RunState::kLost}), RunState::kFinished);
  EXPECT_EQ(launcher_->collect({"r-1"})->b->stdout_tail, "b\n");
}

TEST_F(LocalTest, ACrashBeforeTheSpawnLeavesAReservationThatCanBeSubmittedAgain) {
  const PairRequest made = request("echo a >> order", "echo b >> order");
  for (const char* point : {"launch.submit.before_spawn", "launch.submit.after_spawn"}) {
    const pid_t submitter = ::fork();
    if (submitter == 0) {
      ::setenv("AMDAHL_FAULT_AT", "1", 1);
      ::setenv("AMDAHL_FAULT_POINT", point, 1);
      ::execl(TEST_WORKER, TEST_WORKER, "submit", path("state").c_str(),
              dump_json(encode_request(made)).c_str(), nullptr);
      ::_exit(127);
    }
    int status = 0;
    ::waitpid(submitter, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << point;
    if (point == std::string_view("launch.submit.before_spawn")) {
      EXPECT_EQ(status_of(*launcher_, {"r-1"}).state, RunState::kHeld);
    }
  }
  ASSERT_TRUE(hand_over(*launcher_, made));
  wait_for({RunState::kFinished});
  EXPECT_EQ(*os::read_file(path("order")), "a\nb\n");
}

TEST_F(LocalTest, CancellingEndsTheWholeTree) {
  ASSERT_TRUE(hand_over(
      *launcher_,
      request("setsid sleep 100 & echo $! > pid.tmp; mv pid.tmp pid; sleep 100", "touch b_ran")));
  wait_for_file("pid");
  ASSERT_TRUE(launcher_->cancel({"r-1"}));
  EXPECT_EQ(wait_for({RunState::kFinished, RunState::kLost}), RunState::kFinished);
  const Receipts receipts = *launcher_->collect({"r-1"});
  EXPECT_EQ(receipts.a->ending, Ending::kCancelled);
  EXPECT_EQ(receipts.b->ending, Ending::kCancelled);
  EXPECT_EQ(receipts.b->wall, Nanos{0}) << "it never had its turn";
  EXPECT_EQ(receipts.b->reason, "the run was cancelled");
  EXPECT_FALSE(os::exists(path("b_ran")));
  EXPECT_NE(::kill(pid_in("pid"), 0), 0);
  EXPECT_TRUE(launcher_->cancel({"r-1"})) << "already over";
}

TEST_F(LocalTest, WhatWasCancelledBeforeItBeganNeverBegins) {
  const PairRequest made = request("touch ran", "touch ran");
  ASSERT_TRUE(os::make_dirs(run_folder().path));
  ASSERT_TRUE(os::write_file(run_folder().request(), dump_json(encode_request(made))));
  ASSERT_TRUE(launcher_->cancel({"r-1"}));
  ASSERT_TRUE(run_pair(run_folder().path));
  EXPECT_EQ(status_of(*launcher_, {"r-1"}).state, RunState::kLost);
  EXPECT_FALSE(os::exists(path("ran")));
  EXPECT_TRUE(launcher_->cancel({"r-never"})) << "nothing to cancel";
}

TEST_F(LocalTest, AStoppedWorkerIsAskedToEndAndThenMadeTo) {
  ASSERT_TRUE(
      hand_over(*launcher_, request("echo $$ > pid.tmp; mv pid.tmp pid; sleep 100", "true")));
  wait_for_file("pid");
  ::kill(worker_pid(), SIGSTOP);
  const RunStatus status = status_of(*launcher_, {"r-1"});
  EXPECT_EQ(status.state, RunState::kRunning);
  EXPECT_EQ(status.arms, 2 * (60s + kArmGrace));
  EXPECT_EQ(status.deadline, status.arms);
  ASSERT_TRUE(status.elapsed);
  EXPECT_LT(*status.elapsed, 60s);
  ASSERT_TRUE(launcher_->cancel({"r-1"}));
  EXPECT_EQ(wait_for({RunState::kFinished, RunState::kLost}), RunState::kFinished);
  EXPECT_EQ(launcher_->collect({"r-1"})->a->ending, Ending::kCancelled);

  PairRequest made = request("echo $$ > pid2.tmp; mv pid2.tmp pid2; sleep 100", "true");
  made.reservation = "r-2";
  ASSERT_TRUE(hand_over(*launcher_, made));
  wait_for_file("pid2");
  const auto json = parse_json(*os::read_file(path("state/runs/r-2/started.json")));
  ::kill(json->at("pid").get<pid_t>(), SIGSTOP);
  ASSERT_TRUE(launcher_->kill({"r-2"}));
  while (status_of(*launcher_, {"r-2"}).state != RunState::kLost) os::real_clock().sleep(5ms);
  wait_for_death(pid_in("pid2"));
  EXPECT_GT(status_of(*launcher_, {"r-2"}).elapsed, 0s);
}

TEST_F(LocalTest, AFolderBelongsToTheRunWhoseTicketItBears) {
  PairRequest made = request("echo old >> order", "echo old >> order");
  made.ledger = "0123abcd";
  made.ticket = "first";
  ASSERT_TRUE(hand_over(*launcher_, made));
  while (status_of(*launcher_, {"r-1", "first"}).state != RunState::kFinished) {
    os::real_clock().sleep(5ms);
  }
  // The same reservation of another ledger, or of this one after it was restored.
  const auto fresh = make(path("state"));
  EXPECT_EQ(status_of(*fresh, {"r-1", "second"}).state, RunState::kForeign);
  EXPECT_EQ(fresh->collect({"r-1", "second"}).error().text,
            run_folder().path + " belongs to another run: the ticket differs");
  EXPECT_EQ(status_of(*fresh, {"r-1", "second"}).worker, "");
  PairRequest again = request("echo new >> order", "echo new >> order");
  again.ticket = "second";
  ASSERT_TRUE(hand_over(*fresh, again));
  while (status_of(*fresh, {"r-1", "second"}).state != RunState::kFinished) {
    os::real_clock().sleep(5ms);
  }
  EXPECT_EQ(*os::read_file(path("order")), "old\nold\nnew\nnew\n");
  const std::vector<std::string> aside = os::list(path("state/runs/.aside"));
  ASSERT_EQ(aside.size(), 1U) << "nothing is thrown away";
  EXPECT_TRUE(os::exists(path("state/runs/.aside/" + aside[0] + "/A/receipt.json")));
}

TEST_F(LocalTest, AFolderInUseIsNotMovedAside) {
  PairRequest made = request("touch runs; sleep 100", "true");
  made.ledger = "0123abcd";
  made.ticket = "first";
  ASSERT_TRUE(hand_over(*launcher_, made));
  wait_for_file("runs");
  PairRequest again = made;
  again.ticket = "second";
  EXPECT_EQ(hand_over(*launcher_, again).error().text,
            run_folder().path +
                " is in use by a run of ledger 0123abcd; wait until it ends, or use another folder "
                "with --state");
  EXPECT_EQ(status_of(*launcher_, {"r-1", "second"}).state, RunState::kForeign);
  ASSERT_TRUE(launcher_->cancel({"r-1", "second"}));
  ASSERT_TRUE(launcher_->kill({"r-1", "second"}));
  EXPECT_EQ(status_of(*launcher_, {"r-1", "first"}).state, RunState::kRunning) << "it is not ours";
  ASSERT_TRUE(launcher_->cancel({"r-1", "first"}));
}

TEST_F(LocalTest, HowOftenItWasHandedOverIsKeptInItsFolder) {
  ::setenv("AMDAHL_WORKER", "/bin/true", 1);
  for (int times = 1; times <= 3; ++times) {
    ASSERT_TRUE(hand_over(*make(path("state")), request("true", "true")));
    const RunStatus status = status_of(*launcher_, {"r-1"});
    EXPECT_EQ(status.state, RunState::kQueued);
    EXPECT_EQ(status.released, times);
    EXPECT_GT(*status.elapsed, 0s);
  }
}

TEST_F(LocalTest, ARequestThatCannotBeReadIsNobodysRun) {
  ASSERT_TRUE(hand_over(*launcher_, request("true", "true")));
  wait_for({RunState::kFinished});
  ASSERT_TRUE(os::write_file(run_folder().request(), "{"));
  EXPECT_EQ(status_of(*make(path("state")), {"r-1"}).state, RunState::kForeign);
}

TEST_F(LocalTest, BothArmsArePinnedToTheGivenSlotsAndToNoMoreThanTheyPayFor) {
  if (os::usable_cpus().size() < 2) GTEST_SKIP() << "needs two CPUs";
  const std::string show = "grep Cpus_allowed_list /proc/self/status";
  PairRequest made = request(show, show);
  made.cpus = {os::usable_cpus()[0], os::usable_cpus()[1]};
  made.a.cpus = 2;
  made.a.accelerators = 2;
  made.b.cpus = 1;
  ASSERT_TRUE(hand_over(*launcher_, made));
  wait_for({RunState::kFinished});
  const Receipts receipts = *launcher_->collect({"r-1"});
  EXPECT_EQ(receipts.a->cpus, made.cpus);
  EXPECT_EQ(receipts.b->cpus, std::vector<int>{made.cpus[0]});
  EXPECT_EQ(receipts.b->stdout_tail, fmt::format("Cpus_allowed_list:\t{}\n", made.cpus[0]));
}

TEST_F(LocalTest, AForgedOrMissingReceiptIsAProblem) {
  ASSERT_TRUE(hand_over(*launcher_, request("true", "true")));
  wait_for({RunState::kFinished});
  std::string text = *os::read_file(run_folder().receipt("A"));
  const std::size_t at = text.find("\"wall_ns\"");
  ASSERT_NE(at, text.npos) << text;
  const std::size_t digit = text.find_first_of("0123456789", at);
  text[digit] = text[digit] == '9' ? '8' : '9';
  ASSERT_TRUE(os::write_file(run_folder().receipt("A"), text));
  std::filesystem::remove(run_folder().receipt("B"));
  const Receipts receipts = *launcher_->collect({"r-1"});
  EXPECT_FALSE(receipts.a || receipts.b);
  EXPECT_EQ(receipts.problem, "arm A: the receipt was changed after it was written; arm B: " +
                                  run_folder().receipt("B") + ": no such file");
  EXPECT_EQ(receipts.under_way, "B") << "it ran when A had ended; after B there was nobody";
}

// What a job does to the receipts of arms before it, forging them with a seal that fits included.
TEST_F(LocalTest, AnArmThatChangesAnotherArmsReceiptChangesNothing) {
  const std::string removes = "echo b; rm \"$AMDAHL_OUT/../A/receipt.json\"";
  ASSERT_TRUE(hand_over(*launcher_, request("echo a", removes)));
  ASSERT_EQ(wait_for({RunState::kFinished, RunState::kLost}), RunState::kFinished);
  const Receipts receipts = *launcher_->collect({"r-1"});
  EXPECT_EQ(receipts.problem, "");
  EXPECT_EQ(receipts.restored, std::vector<std::string>{"A"});
  EXPECT_EQ(receipts.under_way, "");
  ASSERT_TRUE(receipts.a && receipts.b);
  EXPECT_EQ(receipts.a->stdout_tail, "a\n");
  EXPECT_EQ(receipts.b->code, 0);
}

TEST_F(LocalTest, AProfileIsAPlainRunAndOneWithTheHook) {
  PairRequest made = request("echo $PYTHONPATH; echo $AMDAHL_HOOK_OUT", "touch b_ran");
  made.profile = true;
  ASSERT_TRUE(hand_over(*launcher_, made));
  wait_for({RunState::kFinished});
  const Receipts receipts = *launcher_->collect({"r-1"});
  EXPECT_EQ(receipts.problem, "");
  EXPECT_EQ(receipts.a->arm, "A");
  EXPECT_EQ(receipts.a->stdout_tail.find("/hook"), std::string::npos);
  EXPECT_EQ(receipts.b->arm, "profile");
  EXPECT_TRUE(receipts.b->stdout_tail.starts_with(receipts.out_b + "/hook"));
  EXPECT_TRUE(os::exists(receipts.out_b + "/hook/sitecustomize.py"));
  EXPECT_TRUE(os::exists(receipts.out_b + "/waits.jsonl"));
  EXPECT_FALSE(os::exists(receipts.out_a + "/waits.jsonl")) << "the run that is timed is plain";
  EXPECT_FALSE(os::exists(path("b_ran")));
}

TEST_F(LocalTest, WhatCannotRunIsAReceiptAndNotALoss) {
  PairRequest made = request("true", "true");
  made.b.argv = {"no_such_program"};
  made.a.config = {{"job.json", "1"}};
  ASSERT_TRUE(hand_over(*launcher_, made));
  EXPECT_EQ(wait_for({RunState::kFinished, RunState::kLost}), RunState::kFinished);
  const Receipts receipts = *launcher_->collect({"r-1"});
  EXPECT_EQ(receipts.a->reason, "config \"job.json\" is not FILE#KEY");
  EXPECT_EQ(receipts.b->reason, "no such program: no_such_program");
}

TEST_F(LocalTest, SubmittingWithoutAWorkerOrAReservationIsAnError) {
  ::setenv("AMDAHL_WORKER", "/no/such/worker", 1);
  EXPECT_EQ(hand_over(*launcher_, request("true", "true")).error().text,
            "cannot start the worker /no/such/worker: No such file or directory");
  EXPECT_EQ(status_of(*launcher_, {"r-1"}).state, RunState::kQueued);
  EXPECT_EQ(status_of(*launcher_, {"../r-1"}).why, "\"../r-1\" is not a reservation");
}

TEST_F(LocalTest, APatchIsBuiltInAWorktreeAndTheCheckoutIsLeftAlone) {
  const std::string repo = path("repo");
  const auto shell = [](const std::string& script) { return std::system(script.c_str()); };
  ASSERT_EQ(shell("mkdir " + repo + " && cd " + repo +
                  " && git init -q . && git config user.email a@b && git config user.name a"
                  " && mkdir sub && printf 'old\\n' > sub/word && git add . && git commit -qm one"
                  " && printf 'not committed\\n' > sub/word"),
            0);
  PairRequest made = request("cat word; cat ../built", "cat word; cat ../built");
  made.spec.repo = repo;
  made.spec.build = {"sh", "-c", "date +%s%N > built; echo x >> " + path("builds")};
  made.spec.workdir = made.a.workdir = made.b.workdir = repo + "/sub";
  made.b.patch = "--- a/sub/word\n+++ b/sub/word\n@@ -1 +1 @@\n-old\n+new\n";
  ASSERT_TRUE(hand_over(*launcher_, made));
  wait_for({RunState::kFinished});
  Receipts receipts = *launcher_->collect({"r-1"});
  EXPECT_TRUE(receipts.a->stdout_tail.starts_with("old\n")) << receipts.a->stdout_tail;
  EXPECT_TRUE(receipts.b->stdout_tail.starts_with("new\n"))
      << receipts.b->stdout_tail << receipts.b->reason;
  EXPECT_EQ(*os::read_file(repo + "/sub/word"), "not committed\n");
  EXPECT_FALSE(os::exists(repo + "/built"));
  EXPECT_EQ(receipts.b->plan_digest, model::digest(made.b));

  // The next pair finds both trees built.
  PairRequest again = made;
  again.reservation = "r-2";
  ASSERT_TRUE(hand_over(*launcher_, again));
  while (status_of(*launcher_, {"r-2"}).state != RunState::kFinished) os::real_clock().sleep(10ms);
  EXPECT_EQ(*os::read_file(path("builds")), "x\nx\n");

  PairRequest wrong = made;
  wrong.reservation = "r-3";
  wrong.b.patch = "--- a/sub/word\n+++ b/sub/word\n@@ -1 +1 @@\n-other\n+new\n";
  ASSERT_TRUE(hand_over(*launcher_, wrong));
  while (status_of(*launcher_, {"r-3"}).state != RunState::kFinished) os::real_clock().sleep(10ms);
  receipts = *launcher_->collect({"r-3"});
  EXPECT_EQ(receipts.b->ending, Ending::kNotStarted);
  EXPECT_TRUE(receipts.b->reason.starts_with("the patch does not apply: ")) << receipts.b->reason;
}

TEST_F(LocalTest, AVariantThatDoesNotBuildSpendsNoArm) {
  const std::string repo = path("repo");
  ASSERT_EQ(std::system(("mkdir " + repo + " && cd " + repo +
                         " && git init -q . && git config user.email a@b && git config user.name a"
                         " && printf 'old\\n' > word && git add . && git commit -qm one")
                            .c_str()),
            0);
  PairRequest made = request("touch " + path("a_ran"), "touch " + path("b_ran"));
  made.spec.repo = repo;
  made.spec.build = {"sh", "-c", "sleep 0.1; grep -q old word"};
  made.spec.workdir = made.a.workdir = made.b.workdir = repo;
  made.b.patch = "--- a/word\n+++ b/word\n@@ -1 +1 @@\n-old\n+new\n";
  ASSERT_TRUE(hand_over(*launcher_, made));
  wait_for({RunState::kFinished});
  const Receipts receipts = *launcher_->collect({"r-1"});
  EXPECT_FALSE(os::exists(path("a_ran")) || os::exists(path("b_ran")));
  EXPECT_EQ(receipts.a->ending, Ending::kNotStarted);
  EXPECT_EQ(receipts.a->reason, "not run: arm B cannot start");
  EXPECT_TRUE(receipts.b->reason.starts_with("the build failed: ")) << receipts.b->reason;
  EXPECT_GE(receipts.build_wall, 200ms) << "both trees were built, and are paid for";

  // In a block the others go on.
  made.reservation = "r-2";
  made.more = {made.a};
  made.more[0].argv = {"sh", "-c", "touch " + path("c_ran")};
  ASSERT_TRUE(hand_over(*launcher_, made));
  while (status_of(*launcher_, {"r-2"}).state != RunState::kFinished) os::real_clock().sleep(10ms);
  EXPECT_TRUE(os::exists(path("a_ran")) && os::exists(path("c_ran")));
  EXPECT_FALSE(os::exists(path("b_ran")));
  EXPECT_LT(launcher_->collect({"r-2"})->build_wall, 100ms) << "nothing is built twice";
}

TEST_F(LocalTest, PairsInFlightShareNoStateFolder) {
  const std::string job =
      "echo {state}; touch {state}/warm; touch began-$0; while [ ! -e go ]; do "
      "sleep 0.01; done";
  const auto submit = [&](const std::string& reservation) {
    PairRequest made = request("true", "true");
    made.reservation = reservation;
    made.a.argv = made.b.argv = {"sh", "-c", job, reservation};
    // One plan but for the name that the test looks for.
    made.a.argv.back() = made.b.argv.back() = "job";
    ASSERT_TRUE(hand_over(*launcher_, made));
  };
  const auto wait = [&](const std::string& reservation) {
    while (status_of(*launcher_, {reservation}).state != RunState::kFinished) {
      os::real_clock().sleep(10ms);
    }
    return std::string(trim(launcher_->collect({reservation})->a->stdout_tail));
  };
  submit("r-1");
  wait_for_file("began-job");
  std::filesystem::remove(path("began-job"));
  submit("r-2");
  wait_for_file("began-job");
  ASSERT_TRUE(os::write_file(path("go"), ""));
  const std::string first = wait("r-1");
  const std::string second = wait("r-2");
  EXPECT_EQ(second, first + "-2");
  submit("r-3");
  EXPECT_EQ(wait("r-3"), first) << "a plan keeps its folder from run to run";
}

TEST(RequestTest, TravelsAsJsonAndBack) {
  PairRequest made;
  made.reservation = "r-7";
  made.spec.family = "f";
  made.a.argv = {"a"};
  made.b.env = {{"X", "1"}};
  made.variant_second = true;
  made.cpus = {0, 3};
  const PairRequest back = *decode_request(encode_request(made));
  EXPECT_EQ(dump_json(encode_request(back)), dump_json(encode_request(made)));
  for (const char* finer : {"concurrent", "contended", "steps", "schedule", "more", "order",
                            "commit", "ledger", "ticket"}) {
    EXPECT_FALSE(encode_request(made).contains(finer)) << "older workers know no such field";
  }
  EXPECT_FALSE(decode_request(Json::object()));
  EXPECT_FALSE(decode_request(Json("text")));
}

TEST(RequestTest, FinerPairingTravelsToo) {
  PairRequest made;
  made.reservation = "r-7";
  made.spec.family = "f";
  made.a.argv = made.b.argv = {"a"};
  made.concurrent = made.contended = made.steps = true;
  made.schedule = "ABBA";
  made.more = {made.a, made.b};
  made.more[1].env = {{"X", "1"}};
  made.order = {2, 0, 1, 3};
  made.commit = "c0ffee";
  made.ledger = "0123abcd";
  made.ticket = "t";
  const PairRequest back = *decode_request(encode_request(made));
  EXPECT_TRUE(back.concurrent && back.contended && back.steps);
  EXPECT_EQ(back.schedule, "ABBA");
  EXPECT_EQ(back.more, made.more);
  EXPECT_EQ(back.order, made.order);
  EXPECT_EQ(back.commit, made.commit);
  EXPECT_EQ(back.ledger, made.ledger);
  EXPECT_EQ(back.ticket, made.ticket);
  Json broken = encode_request(made);
  broken["more"][1].erase("argv");
  EXPECT_EQ(decode_request(broken).error().text, "/more: /argv: is missing");
}

}  // namespace
}  // namespace amdahl::launch::local
