// A patch of a compiled job on a real Slurm, with the ledger on a real PostgreSQL: each worktree is
// built once, by a job without GPUs, which is charged as accounting has it.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/text.h"
#include "cluster.h"
#include "json.h"
#include "ledger/postgres/testing/server.h"
#include "os/host.h"

namespace amdahl::e2e {
namespace {

using ledger::postgres::TestServer;

// The "compiler" says who runs it and what it sees; the job naps as long as was built into it.
constexpr const char* kBuild = R"(#!/bin/sh
echo "$SLURM_JOB_NAME [$CUDA_VISIBLE_DEVICES]" >> "$1"
sleep 1.2  # Slurm counts whole seconds.
grep -v forbidden nap.txt > nap.built
)";
constexpr const char* kJob = R"sh(#!/bin/sh
sleep "$(cat nap.built)"
echo fine > "$AMDAHL_OUT/result"
echo '{"work": 1}' >> "$AMDAHL_REPORT"
)sh";

// To another nap; "forbidden" fails the build.
std::string patch_to(const std::string& nap) {
  return "--- a/nap.txt\n+++ b/nap.txt\n@@ -1 +1 @@\n-0.9\n+" + nap + "\n";
}

class SlurmBuild : public testing::Test {
 protected:
  void SetUp() override {
    if (!cluster_.runs()) GTEST_SKIP() << cluster_.reason();
    if (!server_.runs()) GTEST_SKIP() << server_.reason();
    sandbox_.write("repo/build.sh", kBuild, true);
    sandbox_.write("repo/job.sh", kJob, true);
    sandbox_.write("repo/nap.txt", "0.9\n");
    sandbox_.write("repo/input", "what it reads\n");
    sandbox_.write("repo/.gitignore", "nap.built\n");
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"init", "-q", "."},
             {"add", "."},
             {"-c", "user.email=ada@example.org", "-c", "user.name=Ada", "commit", "-qm", "job"}}) {
      std::vector<std::string> argv{"git"};
      argv.insert(argv.end(), words.begin(), words.end());
      ASSERT_EQ(run(argv, {}, sandbox_.path("repo")).code, 0);
    }
    ASSERT_EQ(run({"./build.sh", "/dev/null"}, {}, sandbox_.path("repo")).code, 0);
    sandbox_.write(
        "job.toml",
        "family = \"nap\"\ncommand = [\"./job.sh\"]\nworkdir = \"repo\"\nrepo = \"repo\"\n"
        "build = [\"./build.sh\", \"" +
            sandbox_.path("builds") +
            "\"]\naccelerators = 2\ntime_limit_s = 20\ninputs = [\"input\"]\n"
            "[work]\nunit = \"nap\"\n[[outputs]]\npath = \"{out}/result\"\n");
    sandbox_.write("config.toml",
                   "launcher = \"slurm\"\nslots = 16\n[campaign]\nk = 4\n[compare]\ncap = 24\n"
                   "min_gain = 0.9\n[loop]\nlease_s = 10.0\nbusy_hosts = false\n[price]\n"
                   "cpu_hour_usd = 1.0\n[slurm]\npoll_s = 0.4\n[ledger]\nurl = \"" +
                       server_.url("build") + "\"\nwait_s = 20\n");
    ASSERT_EQ(sandbox_.amdahl({"adopt", "--spec", "job.toml"}, env_).code, 0);
  }

  std::string propose(const std::string& title, const std::string& patch) const {
    sandbox_.write(title + ".patch", patch);
    const Outcome outcome = sandbox_.amdahl({"propose", "nap", "--patch", title + ".patch",
                                             "--gain", "40", "--title", title, "--as", "ada"},
                                            env_);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out.substr(0, outcome.out.find(' '));
  }

  // GPU-seconds of each job by its name, once accounting has them.
  std::map<std::string, double> accounted(const std::set<std::string>& jobs) const {
    std::map<std::string, double> all;
    for (int i = 0; i < 60 && all.size() < jobs.size(); ++i) {
      run({"sleep", "0.2"}, {}, "/tmp");
      const Outcome told = run({"sacct", "-X", "-n", "-P", "-S", "now-1days", "-E", "now+1days",
                                "-o", "JobName,ElapsedRaw,End,AllocTRES"},
                               env_, "/tmp");
      for (const auto line : split(told.out, '\n')) {
        const auto cells = split(line, '|');
        if (cells.size() != 4 || cells[2] == "Unknown") continue;
        if (!jobs.contains(std::string(cells[0]))) continue;
        const bool two = cells[3].find("gres/gpu=2") != cells[3].npos;
        EXPECT_TRUE(two || cells[3].find("gres/gpu") == cells[3].npos) << line;
        all[std::string(cells[0])] = two ? 2 * to_number<double>(cells[1]).value_or(0) : 0;
      }
    }
    return all;
  }

  Cluster cluster_{"/tmp/amdahl-slurm-" + os::random_hex(6)};
  TestServer server_{std::vector<std::string>{"fsync=off"}};
  Sandbox sandbox_;
  std::map<std::string, std::string> env_{{"SLURM_CONF", cluster_.conf()}};
};

TEST_F(SlurmBuild, EachTreeIsBuiltOnceByAJobWithoutGpus) {
  const std::string fix = propose("shorter", patch_to("0.4"));
  const std::string broken = propose("broken", patch_to("forbidden"));
  const Outcome cycle = sandbox_.amdahl({"cycle", "--watch"}, env_);
  ASSERT_EQ(cycle.code, 0) << cycle.err;

  // The baseline's tree and those of both patches.
  std::set<std::string> builders;
  const std::string log = sandbox_.read("builds");
  for (const auto line : split(trim(log), '\n')) {
    EXPECT_TRUE(line.ends_with(" []")) << line << ": it sees a GPU";
    EXPECT_TRUE(builders.insert(std::string(line.substr(0, line.find(' ')))).second) << line;
  }
  EXPECT_EQ(builders.size(), 3U) << log;

  std::map<std::string, std::string> purposes;
  std::map<std::string, Json> spent;
  std::map<std::string, std::string> jobs;
  for (const Json& event : events(sandbox_, "run.reserved")) {
    purposes[event.at("subject")] = event.at("payload").at("purpose");
  }
  for (const Json& event : events(sandbox_, "run.collected")) {
    spent[event.at("subject")] = event.at("payload");
  }
  std::set<std::string> names;
  for (const Json& event : events(sandbox_, "run.submitted")) {
    const std::string worker = event.at("payload").at("worker_run_id");
    const auto parts = split(worker, ':');
    jobs[event.at("subject")] = std::string(parts.at(2));
    if (parts[2].find('/') == parts[2].npos) names.emplace(parts[2]);
  }
  const std::map<std::string, double> billed = accounted(names);
  int builds = 0;
  for (const auto& [run, purpose] : purposes) {
    if (!purpose.starts_with("build:")) continue;
    ++builds;
    EXPECT_TRUE(builders.contains(jobs[run])) << run;
    ASSERT_TRUE(spent.contains(run)) << run;
    EXPECT_EQ(spent[run].at("spent_accelerator_s"), 0.0);
    EXPECT_GT(spent[run].at("spent").at("usd"), 0.0) << "its CPU time is charged";
    EXPECT_EQ(billed.at(jobs[run]), 0.0);
  }
  EXPECT_EQ(builds, 3);

  const Json gate = json_of(sandbox_.amdahl({"gate", "list", "--json"}, env_)).at("gate");
  ASSERT_EQ(gate.size(), 1U) << cycle.out << cycle.err;
  EXPECT_EQ(gate.at(0).at("packet").at("hypothesis"), fix);
  std::string verdict;
  for (const Json& event : events(sandbox_, "verdict.recorded")) {
    if (event.at("subject") == broken) verdict = event.at("payload").at("kind");
  }
  EXPECT_EQ(verdict, "invalid");
  EXPECT_EQ(sandbox_.amdahl({"ledger", "verify"}, env_).code, 0);
}

}  // namespace
}  // namespace amdahl::e2e
