// Pairs on a real Slurm: the launcher alone, and what becomes of its runs when the cluster fails.
#include <chrono>
#include <cstdlib>
#include <memory>

#include <gtest/gtest.h>

#include "base/text.h"
#include "cluster.h"
#include "launch/conformance.h"
#include "launch/slurm/rows.h"
#include "launch/slurm/slurm.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::e2e {
namespace {

using namespace std::chrono_literals;
using launch::Handover;
using launch::PairRequest;
using launch::RunRef;
using launch::RunState;
using launch::RunStatus;

class SlurmLaunch : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    cluster_ = new Cluster("/tmp/amdahl-slurm-" + os::random_hex(6));
    ::setenv("SLURM_CONF", cluster_->conf().c_str(), 1);
    ::setenv("AMDAHL_WORKER", program().c_str(), 1);
  }
  static void TearDownTestSuite() { delete cluster_; }

  void SetUp() override {
    if (!cluster_->runs()) GTEST_SKIP() << cluster_->reason();
    launcher_ = make();
  }

  std::unique_ptr<launch::Launcher> make(Nanos poll = 300ms) const {
    launch::Site site{sandbox_.path("state")};
    site.slurm.poll = poll;
    site.slurm.settle = 4s;
    site.families["spare"] = site.slurm;
    site.families["spare"].partition = "spare";
    site.families["spare"].gres = "gpu:a100";
    site.families["spare"].wrap = {"env", "IMAGE=train.sif"};  // As a container's program would.
    return launch::slurm::make(site);
  }

  // Both arms leave a line in the file that is named after the run.
  PairRequest request(const std::string& name) const {
    PairRequest made;
    made.reservation = "r-" + name;
    made.ticket = os::random_hex(16);
    made.spec.family = "test";
    made.spec.workdir = sandbox_.path();
    made.spec.time_limit = 60s;
    made.a.argv = {"sh", "-c", "echo a >> ran-" + name};
    made.a.workdir = sandbox_.path();
    made.b = made.a;
    made.b.argv = {"sh", "-c", "echo b >> ran-" + name};
    made.variant_second = true;
    made.spec.command = made.a.argv;
    return made;
  }
  static RunRef ref(const PairRequest& request) { return {request.reservation, request.ticket}; }

  RunStatus wait_for(const PairRequest& request, std::initializer_list<RunState> wanted) const {
    const Nanos until = os::real_clock().monotonic() + 60s;
    while (true) {
      const RunStatus status = status_of(*launcher_, ref(request));
      const bool there = std::find(wanted.begin(), wanted.end(), status.state) != wanted.end();
      if (there || os::real_clock().monotonic() > until) return status;
      os::real_clock().sleep(200ms);
    }
  }
  // Jobs with the run's name that Slurm still knows and that could run or did.
  int jobs_of(const PairRequest& request) const {
    const Outcome told = run({"squeue", "-h", "-t", "all", "-o", "%T %j"}, {}, "/tmp");
    int jobs = 0;
    for (const auto line : split(told.out, '\n')) {
      const bool same = line.ends_with(" " + launch::job_name(ref(request)));
      jobs += same && !line.starts_with("CANCELLED") ? 1 : 0;
    }
    return jobs;
  }
  // As a cycle does: look, and act on what is seen, until it is finished.
  int settle(const PairRequest& request) const {
    int submissions = 0;
    const Nanos until = os::real_clock().monotonic() + 75s;
    while (os::real_clock().monotonic() < until) {
      const RunStatus status = status_of(*launcher_, ref(request));
      const RunRef run = ref(request);
      if (status.state == RunState::kFinished) break;
      if (status.state == RunState::kHeld) (void)launcher_->release(std::span(&run, 1));
      if (status.state == RunState::kAbsent) {
        ++submissions;
        (void)launcher_->submit(std::span(&request, 1));
      }
      os::real_clock().sleep(300ms);
    }
    EXPECT_EQ(status_of(*launcher_, ref(request)).state, RunState::kFinished);
    return submissions;
  }

  static Cluster* cluster_;
  Sandbox sandbox_;
  std::unique_ptr<launch::Launcher> launcher_;
};
Cluster* SlurmLaunch::cluster_ = nullptr;

TEST_F(SlurmLaunch, Conforms) {
  const launch::Trial trial{[&] { return make(); }, sandbox_.path("scratch"), 60s, 1500ms};
  for (const launch::Breach& breach : conformance(trial)) {
    ADD_FAILURE() << breach.rule << ": " << breach.what;
  }
}

TEST_F(SlurmLaunch, AnArmThatClaimsHalfOfTheGpusSeesHalfAndTheOtherHalfIsCharged) {
  PairRequest made = request("half");
  const std::string show = "echo $CUDA_VISIBLE_DEVICES $ROCR_VISIBLE_DEVICES; nproc; sleep 2";
  made.a.argv = made.b.argv = {"sh", "-c", show};
  made.a.accelerators = 4;
  made.a.cpus = 2;
  made.b.accelerators = 2;
  made.b.cpus = 1;
  ASSERT_TRUE(hand_over(*launcher_, made));
  const RunStatus over = wait_for(made, {RunState::kFinished, RunState::kLost});
  ASSERT_EQ(over.state, RunState::kFinished) << over.why;
  const auto receipts = launcher_->collect(ref(made));
  ASSERT_TRUE(receipts && receipts->a && receipts->b) << receipts->problem;
  EXPECT_EQ(receipts->a->stdout_tail, "0,1,2,3 0,1,2,3\n2\n");
  EXPECT_EQ(receipts->b->stdout_tail, "0,1 0,1\n1\n");
  EXPECT_EQ(receipts->b->accelerators, 2);
  EXPECT_EQ(*os::read_file(receipts->out_b + "/stdout"), receipts->b->stdout_tail) << "copied back";
  ASSERT_TRUE(over.charge);
  EXPECT_EQ(over.charge->accelerators, 4);
  EXPECT_EQ(over.charge->cpus, 2);
  // Accounting says the same, once it has the record.
  const std::string id(split(over.worker, ':')[1]);
  std::string seconds;
  for (int i = 0; i < 100 && seconds.empty(); ++i) {
    const Outcome told =
        run({"sacct", "-X", "-n", "-P", "-j", id, "-o", "ElapsedRaw,End"}, {}, "/");
    const auto cells = split(trim(told.out), '|');
    if (cells.size() == 2 && cells[1] != "Unknown") seconds = cells[0];
    os::real_clock().sleep(200ms);
  }
  EXPECT_NEAR(to_number<double>(seconds).value_or(-1), to_seconds(over.charge->wall), 1);
}

TEST_F(SlurmLaunch, AFamilyWithSettingsOfItsOwnRunsByThem) {
  const PairRequest usual = request("usual");
  PairRequest special = request("special");
  special.spec.family = "spare";
  special.a.argv.back() += "; echo $IMAGE";
  const auto answers = launcher_->submit(std::vector<PairRequest>{usual, special});
  EXPECT_EQ(answers[0].handover, Handover::kAccepted) << answers[0].reason;
  EXPECT_EQ(answers[1].handover, Handover::kAccepted) << answers[1].reason;
  const auto told_of = [&](const PairRequest& one) {
    const std::string name = "--name=" + launch::job_name(ref(one));
    return run({"squeue", "-h", name, "-o", "%P %b"}, {}, "/tmp").out;
  };
  EXPECT_EQ(told_of(usual), "main gres:gpu:1\n");
  EXPECT_EQ(told_of(special), "spare gres:gpu:a100:1\n");
  EXPECT_EQ(launcher_->capacity(usual)->hardware, "slurm gpu");
  EXPECT_EQ(launcher_->capacity(special)->hardware, "slurm spare gpu:a100");
  // One of the two nodes is in that partition.
  PairRequest wide = special;
  wide.spec.layout.nodes = 2;
  EXPECT_NE(launcher_->capacity(wide)->never, "");
  wide.spec.family = "usual";
  EXPECT_EQ(launcher_->capacity(wide)->never, "");
  EXPECT_TRUE(launcher_->cancel(ref(usual)));
  const RunRef run_of_special = ref(special);
  ASSERT_TRUE(launcher_->release(std::span(&run_of_special, 1)));
  const RunStatus over = wait_for(special, {RunState::kFinished, RunState::kLost});
  EXPECT_EQ(over.state, RunState::kFinished) << over.why;
  EXPECT_EQ(sandbox_.read("ran-special"), "a\nb\n");
  EXPECT_EQ(launcher_->collect(run_of_special)->a->stdout_tail, "train.sif\n");
}

// The script that sbatch gets, with a `module` of ours: names of modules reach no shell.
TEST_F(SlurmLaunch, ModulesAreLoadedBeforeTheWorker) {
  const PairRequest made = request("modules");
  const auto answers = launcher_->submit(std::span(&made, 1));
  EXPECT_EQ(answers[0].handover, Handover::kAccepted) << answers[0].reason;
  EXPECT_TRUE(launcher_->cancel(ref(made)));
  const std::map<std::string, std::string> env{
      {"BASH_FUNC_module%%", "() { printf '<%s>' \"$@\"; [ \"$2\" != missing ]; }"}};
  const auto script = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"bash", sandbox_.path("state/slurm/job.sh")});
    return run(words, env, sandbox_.path());
  };
  const Outcome loaded = script({"cuda/12", "a b;$(id)", "--", "sh", "-c", "echo $AMDAHL_MODULES"});
  EXPECT_EQ(loaded.out, "<load><cuda/12><a b;$(id)>1\n");
  EXPECT_EQ(script({"--", "sh", "-c", "echo \"-$AMDAHL_MODULES-\""}).out, "--\n");
  EXPECT_EQ(script({"missing", "--", "echo", "ran"}).code, 9);
}

TEST_F(SlurmLaunch, ANodeThatGoesDownBlamesNoArm) {
  PairRequest made = request("down");
  made.a.argv = {"sh", "-c", "touch began; sleep 30"};
  ASSERT_TRUE(hand_over(*launcher_, made));
  const Nanos until = os::real_clock().monotonic() + 60s;
  while (!sandbox_.has("began") && os::real_clock().monotonic() < until) {
    os::real_clock().sleep(100ms);
  }
  const RunStatus running = status_of(*launcher_, ref(made));
  ASSERT_EQ(running.state, RunState::kRunning) << running.why;
  const std::string id(split(running.worker, ':')[1]);
  const Outcome where = run({"squeue", "-h", "-j", id, "-o", "%N"}, {}, "/tmp");
  const std::string node = "NodeName=" + std::string(trim(where.out));
  ASSERT_EQ(run({"scontrol", "update", node, "State=DOWN", "Reason=test"}, {}, "/tmp").code, 0);
  const RunStatus over = wait_for(made, {RunState::kNodeFailed, RunState::kLost});
  EXPECT_EQ(over.state, RunState::kNodeFailed) << over.why;
  EXPECT_TRUE(is_infrastructure(over.state));
  EXPECT_EQ(over.charge ? over.charge->accelerators : 0, 1);
  run({"scontrol", "update", node, "State=RESUME"}, {}, "/tmp");  // It may be back by itself.
}

// However many runs are in flight, looking at all of them, letting them start and asking for room
// starts as many programs.
TEST_F(SlurmLaunch, ACycleStartsAsManyProgramsForManyRuns) {
  for (const char* program : {"squeue", "sacct", "scontrol", "scancel", "sinfo", "sbatch"}) {
    sandbox_.write(std::string("bin/") + program,
                   "#!/bin/sh\necho " + std::string(program) + " >> '" + sandbox_.path("asked") +
                       "'\nexec /usr/bin/" + program + " \"$@\"\n",
                   true);
  }
  const std::size_t most = std::getenv("AMDAHL_SLOW") == nullptr ? 100 : 1000;
  std::vector<PairRequest> many;
  std::vector<RunRef> runs;
  for (std::size_t i = 0; i < most; ++i) {
    many.push_back(request("many-" + std::to_string(i)));
    // Two nodes have no room for it, so that all stay in flight.
    many.back().a.accelerators = many.back().b.accelerators = 4;
    runs.push_back(ref(many.back()));
  }
  for (const auto& answer : launcher_->submit(many)) {
    ASSERT_EQ(answer.handover, Handover::kAccepted) << answer.reason;
  }
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", (sandbox_.path("bin") + ":" + path).c_str(), 1);
  const auto asked = [&](std::size_t count) {
    sandbox_.write("asked", "");
    const auto launcher = make(60s);  // Longer than a cycle.
    const std::span<const RunRef> some(runs.data(), count);
    for (const RunStatus& status : launcher->status(some)) EXPECT_EQ(status.state, RunState::kHeld);
    EXPECT_TRUE(launcher->capacity(many.front()));
    return split(trim(sandbox_.read("asked")), '\n').size();
  };
  const std::size_t few = asked(10);
  EXPECT_LE(few, 6U);
  for (std::size_t count = 100; count <= most; count *= 10) EXPECT_EQ(asked(count), few) << count;
  sandbox_.write("asked", "");
  const auto launcher = make();
  EXPECT_TRUE(launcher->release(runs));
  EXPECT_LE(split(trim(sandbox_.read("asked")), '\n').size(), 2U) << sandbox_.read("asked");
  ::setenv("PATH", path.c_str(), 1);
  run({"scancel", "--me"}, {}, "/tmp");
}

TEST_F(SlurmLaunch, AHungControllerLeadsToExactlyOneRun) {
  const PairRequest made = request("hung");
  cluster_->signal("ctld", "STOP");
  const auto answer = launcher_->submit(std::span(&made, 1)).front();
  EXPECT_EQ(answer.handover, Handover::kUnknown) << answer.reason;
  EXPECT_EQ(status_of(*make(), ref(made)).state, RunState::kUnknown);
  cluster_->signal("ctld", "CONT");
  EXPECT_EQ(settle(made), 0) << "it was there all the time";
  EXPECT_EQ(jobs_of(made), 1);
  EXPECT_EQ(sandbox_.read("ran-hung"), "a\nb\n");
}

TEST_F(SlurmLaunch, AControllerThatForgetsASubmissionLeadsToExactlyOneRun) {
  const PairRequest made = request("forgotten");
  const auto answer = launcher_->submit(std::span(&made, 1)).front();
  ASSERT_EQ(answer.handover, Handover::kAccepted) << answer.reason;
  cluster_->signal("ctld", "KILL");
  EXPECT_EQ(status_of(*make(), ref(made)).state, RunState::kUnknown) << "nobody can tell";
  cluster_->up("ctld");
  EXPECT_LE(settle(made), 1);
  EXPECT_EQ(jobs_of(made), 1);
  EXPECT_EQ(sandbox_.read("ran-forgotten"), "a\nb\n");
}

}  // namespace
}  // namespace amdahl::e2e
