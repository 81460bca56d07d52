// Launcher plug-ins: one that keeps the rules, and a dozen that do not, each found out by name.
#include <cstdlib>
#include <functional>
#include <future>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <unistd.h>

#include "cluster.h"
#include "json.h"

namespace amdahl::e2e {
namespace {

const std::string kToy = source_path("/tests/launchers/toy");

// The toy scheduler with a mistake, checked; may be called by several threads.
Outcome check_toy(const Sandbox& sandbox, const std::string& mistake) {
  return run({program(), "launcher", "check", kToy, "--patience", "6", "--json", "--state",
              sandbox.path("state")},
             {{"TOY_DIR", sandbox.path("toy")}, {"TOY_WRONG", mistake}}, sandbox.path());
}

// Ids of the rules that were broken.
std::set<std::string> broken_in(const Outcome& outcome) {
  std::set<std::string> broken;
  const Json answer = json_of(outcome, outcome.code);
  for (const Json& rule : answer.at("rules")) {
    if (!rule.at("kept").get<bool>()) broken.insert(rule.at("id"));
  }
  EXPECT_EQ(broken.empty(), answer.at("ok").get<bool>());
  EXPECT_EQ(outcome.code, broken.empty() ? 0 : 1);
  return broken;
}

TEST(Launcher, APlugInThatKeepsTheRulesPasses) {
  const Sandbox sandbox;
  EXPECT_EQ(broken_in(check_toy(sandbox, "")), std::set<std::string>{});
}

TEST(Launcher, EveryMistakeIsFoundByName) {
  const std::map<std::string, std::string> mistakes{
      {"not-held", "held-until-released"},
      {"no-id", "accepts"},
      {"no-json", "accepts"},
      {"releases-all", "releases-no-other"},
      {"never-starts", "release-starts"},
      {"shows-queued", "shows-running"},
      {"another-id", "found-by-reservation"},
      {"charges-an-hour", "charge"},
      {"charges-nothing", "charge"},
      {"keeps-held", "cancel-held"},
      {"cannot-cancel", "cancel-ends"},
      {"boundless", "capacity"},
      {"no-hardware", "capacity"},
      {"shell", "no-shell"},
  };
  std::map<std::string, Sandbox> sandboxes;
  std::map<std::string, std::future<Outcome>> checks;
  for (const auto& [mistake, rule] : mistakes) {
    checks[mistake] =
        std::async(std::launch::async, check_toy, std::cref(sandboxes[mistake]), mistake);
  }
  for (const auto& [mistake, rule] : mistakes) {
    EXPECT_TRUE(broken_in(checks[mistake].get()).contains(rule))
        << mistake << " does not break " << rule;
  }
}

void expect_keeps_the_rules(const std::string& plug_in, const std::string& state,
                            const std::map<std::string, std::string>& env) {
  const Outcome checked = run({program(), "launcher", "check", source_path("/launchers/" + plug_in),
                               "--patience", "30", "--json", "--state", state},
                              env, "/tmp");
  const Json answer = json_of(checked, checked.code);
  for (const Json& rule : answer.at("rules")) {
    EXPECT_TRUE(rule.at("kept").get<bool>()) << rule.at("id") << ": " << rule.at("instead");
  }
}

// A plug-in that is shipped, against its scheduler.
void expect_keeps_the_rules(const std::string& plug_in) {
  const Cluster cluster("/tmp/amdahl-" + plug_in + "-" + std::to_string(::getpid()),
                        plug_in + "_sandbox");
  if (!cluster.runs()) GTEST_SKIP() << cluster.reason();
  const Sandbox sandbox;
  expect_keeps_the_rules(plug_in, sandbox.path("state"), cluster.env());
}

TEST(Launcher, GridEngineKeepsTheRules) { expect_keeps_the_rules("gridengine"); }

// The real kubectl with an API server of our own that runs the jobs here.
TEST(Launcher, KubernetesKeepsTheRules) { expect_keeps_the_rules("kubernetes"); }

// On somebody's own cluster, with their image and the folder that its nodes share.
TEST(Launcher, KubernetesKeepsTheRulesOnTheClusterThatKubectlReaches) {
  const char* pods = std::getenv("AMDAHL_K8S_TEMPLATE");
  const char* state = std::getenv("AMDAHL_STATE");
  if (pods == nullptr || state == nullptr) {
    GTEST_SKIP() << "needs AMDAHL_K8S_TEMPLATE (docs/format/launcher.md) and AMDAHL_STATE, a "
                    "folder that the cluster's nodes share";
  }
  const Outcome reached =
      run({"kubectl", "--request-timeout=10s", "get", "--raw", "/version"}, {}, "/tmp");
  if (reached.code != 0) GTEST_SKIP() << "kubectl reaches no cluster: " << reached.err;
  expect_keeps_the_rules("kubernetes", state, {});
}

TEST(Launcher, WrongUseIsSaid) {
  Sandbox sandbox;
  EXPECT_EQ(sandbox.amdahl({"launcher", "check", sandbox.path()}).code, 2);
  EXPECT_EQ(sandbox.amdahl({"launcher", "check"}).code, 2);
  EXPECT_EQ(sandbox.amdahl({"launcher", "chekc", kToy}).code, 2);
  EXPECT_EQ(sandbox.amdahl({"launcher", "check", kToy, "--patience", "0"}).code, 2);
}

TEST(Launcher, ACycleRunsItsPairsThroughAPlugIn) {
  Sandbox sandbox;
  sandbox.add_nap_job();
  sandbox.write("config.toml",
                "launcher = \"command\"\nplug_in = \"" + std::string(kToy) +
                    "\"\nslots = 4\n[campaign]\nk = 4\n[compare]\ncap = 24\nmin_gain = 0.9\n"
                    "[loop]\nlease_s = 10.0\nbusy_hosts = false\n[slurm]\npoll_s = 0.2\n");
  const std::map<std::string, std::string> env{{"TOY_DIR", sandbox.path("toy")}};
  ASSERT_EQ(sandbox.amdahl({"adopt", "--spec", "job.toml"}, env).code, 0);
  ASSERT_EQ(sandbox
                .amdahl({"propose", "nap", "--env", "NAP=0.01", "--gain", "60", "--title", "x",
                         "--as", "ada"},
                        env)
                .code,
            0);
  const Outcome cycle = sandbox.amdahl({"cycle", "--watch"}, env);
  ASSERT_EQ(cycle.code, 0) << cycle.err;
  EXPECT_EQ(json_of(sandbox.amdahl({"gate", "list", "--json"}, env)).at("gate").size(), 1U)
      << cycle.out << cycle.err;
  for (const Json& event : events(sandbox, "run.submitted")) {
    const std::string worker = event.at("payload").at("worker_run_id");
    EXPECT_TRUE(worker.starts_with("command:")) << worker;
  }
}

}  // namespace
}  // namespace amdahl::e2e
