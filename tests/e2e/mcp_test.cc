// mcp_test.cc: a client that is not ours takes jobs through the loop, by the tools alone.
#include <gtest/gtest.h>

#include "mcp_client.h"

namespace amdahl::e2e {
namespace {

Json nap_change(const std::string& seconds, const std::string& title) {
  return {{"family", "nap"},
          {"change", {{"env", {{"NAP", seconds}}}}},
          {"title", title},
          {"mechanism", "the job sleeps for as long as NAP says"},
          {"gain_percent", 40}};
}

// rank, read, propose, run, status, and what a person decides.
void walk(Era era, bool with_tasks) {
  Sandbox sandbox;
  sandbox.add_nap_job("0.5");
  ASSERT_EQ(sandbox.amdahl({"run", "--spec", "job.toml", "--quiet"}).code, 0);
  ASSERT_EQ(sandbox.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  McpClient client(sandbox, era, {"--budget", "20m"}, with_tasks);
  const Json ranked = client.call("rank_fleet").at("rows").at(0);
  EXPECT_EQ(ranked.at("name"), "nap");
  EXPECT_EQ(ranked.at("has_spec"), true);
  EXPECT_EQ(client.call("job_anatomy").at("family"), "nap");
  EXPECT_EQ(client.call("read_spec", {{"family", "nap"}}).at("spec").at("family"), "nap");
  EXPECT_NE(client.refused("query_profile", {{"family", "nap"}, {"about", "causes"}})
                .find("has no profile yet"),
            std::string::npos);

  const Json proposed = client.call("propose_change", nap_change("0.05", "shorter naps"));
  EXPECT_EQ(proposed.at("accepted"), true);
  const std::string id = proposed.at("hypothesis");
  const Json run = {{"family", "nap"}, {"hypothesis", id}, {"minutes", 10}};
  if (with_tasks) {
    const Json task = client.raw_call("run_experiments", run);
    ASSERT_EQ(task.at("resultType"), "task") << task;
    EXPECT_EQ(task.at("status"), "working");
    client.settled(id);
    const Json done = client.request("tasks/get", {{"taskId", task.at("taskId")}}).at("result");
    EXPECT_EQ(done.at("status"), "completed") << done;
    EXPECT_EQ(done.at("result").at("structuredContent").at("status").at("id"), id);
  } else {
    EXPECT_EQ(client.call("run_experiments", run).at("running"), true);
  }
  Json status = client.settled(id);
  EXPECT_EQ(status.at("waits_for"), "a person") << status;
  EXPECT_EQ(status.at("stage"), "gate");
  EXPECT_GT(status.at("measured").at("lower").get<double>(), 0.2);
  EXPECT_FALSE(status.at("votes").empty());
  client.finished();
  EXPECT_EQ(client.call("loop_status").at("waits_for_a_person").at(0).at("hypothesis"), id);
  EXPECT_EQ(client.call("query_profile", {{"family", "nap"}, {"about", "causes"}}).at("about"),
            "causes");

  const Json packet = client.call("evidence_packet", {{"family", "nap"}});
  EXPECT_EQ(packet.at("role"), "propose");
  EXPECT_TRUE(packet.at("brief").contains("memory"));

  // The same under another title is known.
  const Json again = client.call("propose_change", nap_change("0.05", "nap less"));
  EXPECT_EQ(again.at("accepted"), false);
  EXPECT_EQ(again.at("known").at(0).at("id"), id);
  EXPECT_EQ(again.at("known").at(0).at("nearness"), "same change");

  // It was proposed by an agent, and nobody but a person decides.
  const Json story = json_of(sandbox.amdahl({"ledger", "show", id, "--json"}));
  EXPECT_EQ(story.at("hypothesis").at("origin"),
            Json({{"kind", "agent"}, {"ref", "mcp:scripted"}}));
  ASSERT_EQ(sandbox.amdahl({"gate", "approve", id, "--reason", "seen", "--as", "ada"}).code, 0);
  status = client.call("experiment_status", {{"id", id}});
  EXPECT_EQ(status.at("state"), "promoted");
  EXPECT_EQ(status.at("waits_for"), "nothing");
  // The baseline has it now; a near idea is shown what came of it.
  EXPECT_NE(client.refused("propose_change", nap_change("0.05", "nap less")).find("already has it"),
            std::string::npos);
  const Json near = client.call("propose_change", nap_change("0.04", "even shorter naps"));
  EXPECT_EQ(near.at("accepted"), true);
  EXPECT_EQ(near.at("known").at(0).at("id"), id);
  EXPECT_EQ(near.at("known").at(0).at("state"), "promoted");
  EXPECT_EQ(near.at("known").at(0).at("nearness"), "same setting, other value");
  EXPECT_EQ(client.call("search_ledger", {{"words", "shorter naps"}}).at("hypotheses").size(), 2U);
  EXPECT_EQ(client.end(), 0);
  EXPECT_EQ(sandbox.amdahl({"ledger", "verify"}).code, 0);
}

TEST(Mcp, AWalkFromRankToVerdictInTheEraOfHandshakes) { walk(Era::kLegacy, false); }
TEST(Mcp, AWalkFromRankToVerdictWithTasks) { walk(Era::kModern, true); }

TEST(Mcp, APolicyAtTheGateDoesNotServeAClientAndAGrantEnds) {
  Sandbox sandbox;
  sandbox.add_nap_job();
  sandbox.write("config.toml", sandbox.read("config.toml") + "[gate]\npolicy = \"demo\"\n");
  ASSERT_EQ(sandbox.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  McpClient client(sandbox, Era::kModern, {"--budget", "2s"});
  const std::string id =
      client.call("propose_change", nap_change("0.05", "shorter naps")).at("hypothesis");
  client.call("run_experiments", {{"family", "nap"}, {"minutes", 1440}});
  client.finished();
  EXPECT_NE(client.refused("run_experiments", {{"family", "nap"}}).find("used up"),
            std::string::npos);
  EXPECT_EQ(client.call("experiment_status", {{"id", id}}).at("state"), "live");
  EXPECT_TRUE(events(sandbox, "gate.decided").empty());
}

// Asks a slow service for the same answer before each of its steps.
constexpr const char* kJob = R"(import time


def scale():
    time.sleep(0.07)
    return 3


total = 0
for step in range(1, 21):
    total += step * scale()
    if step % 5 == 0:
        print("step", step, "total", total)
)";

constexpr const char* kFix = R"(--- a/job.py
+++ b/job.py
@@ -7,6 +7,7 @@
 
 
 total = 0
+factor = scale()
 for step in range(1, 21):
-    total += step * scale()
+    total += step * factor
     if step % 5 == 0:
)";

// With nothing but the server: the client sees no shell, and names no command.
TEST(Mcp, AnUnmodifiedJobComesToAPromotedPatch) {
  Sandbox sandbox;
  const Outcome python =
      run({"python3", "-c", "import sys; print(sys.executable, end='')"}, {}, sandbox.path());
  if (python.code != 0) GTEST_SKIP() << "python3 is not installed: apt install python3";
  sandbox.write("job.py", kJob);
  sandbox.write("config.toml", "[loop]\nlease_s = 3.0\n");
  sandbox.write(".gitignore", "state\n.out-*\n");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"git", "init", "-q", "."},
                                                {"git", "config", "user.email", "ada@example.org"},
                                                {"git", "config", "user.name", "Ada"},
                                                {"git", "add", "."},
                                                {"git", "commit", "-q", "-m", "the job"}}) {
    ASSERT_EQ(run(words, {}, sandbox.path()).code, 0);
  }
  McpClient client(sandbox, Era::kModern,
                   {"--budget", "15m", "--accelerators", "1", "--", python.out, "job.py"});
  EXPECT_EQ(client.call("loop_status").at("next"), "adopt_job");
  client.call("adopt_job");
  const Json adopted = client.finished();
  const std::string family = adopted.at("session").at("family");
  ASSERT_EQ(family, "job") << adopted;
  client.call("run_experiments", {{"family", family}, {"until", "profiled"}});
  client.finished();
  const Json causes = client.call("query_profile", {{"family", family}, {"about", "causes"}});
  EXPECT_FALSE(causes.at("causes").empty()) << causes;
  client.call("code_findings", {{"family", family}});
  const Json packet = client.call("evidence_packet", {{"family", family}});
  EXPECT_FALSE(packet.at("brief").contains("answer_schema")) << "propose_change has its own";
  const Json proposed = client.call("propose_change", {{"family", family},
                                                       {"change", {{"patch", kFix}}},
                                                       {"title", "ask once"},
                                                       {"mechanism", "the answer never changes"},
                                                       {"cause", "compute"},
                                                       {"gain_percent", 60}});
  ASSERT_EQ(proposed.at("accepted"), true) << proposed;
  const std::string id = proposed.at("hypothesis");
  client.call("run_experiments", {{"family", family}, {"hypothesis", id}});
  const Json status = client.settled(id);
  ASSERT_EQ(status.at("waits_for"), "a person") << status;
  ASSERT_EQ(sandbox.amdahl({"gate", "approve", id, "--reason", "seen", "--as", "ada"}).code, 0);
  EXPECT_EQ(client.call("experiment_status", {{"id", id}}).at("state"), "promoted");
  EXPECT_EQ(sandbox.read("job.py"), kJob);  // The checkout was left alone.
}

}  // namespace
}  // namespace amdahl::e2e
