// verbs_test.cc: the verbs beside the loop, as a person types them.
#include <gtest/gtest.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

TEST(Verbs, EveryVerbHasAPageWithAnExample) {
  Sandbox sandbox;
  const Outcome all = sandbox.amdahl({"--help"});
  ASSERT_EQ(all.code, 0);
  for (const char* verb :
       {"run",     "scan", "anatomy", "adopt", "profile", "propose",    "cycle",
        "status",  "gate", "canary",  "stack", "ledger",  "dream",      "roi",
        "compare", "sim",  "doctor",  "init",  "config",  "completion", "version"}) {
    SCOPED_TRACE(verb);
    EXPECT_NE(all.out.find(std::string("\n  ") + verb + " "), std::string::npos);
    const Outcome page = sandbox.amdahl({verb, "--help"});
    EXPECT_EQ(page.code, 0);
    EXPECT_NE(page.out.find("Example"), std::string::npos) << page.out;
    EXPECT_NE(page.out.find("Exit codes"), std::string::npos);
  }
}

TEST(Verbs, InitWritesTheConfigurationThatIsNamed) {
  Sandbox sandbox;
  const std::string file = sandbox.path("etc/amdahl.toml");
  const std::map<std::string, std::string> env{{"AMDAHL_CONFIG", file}};
  const Outcome before = sandbox.amdahl({"status"}, env);
  EXPECT_NE(before.code, 0);
  EXPECT_NE(before.err.find("type: amdahl init"), std::string::npos) << before.err;
  const Outcome made = sandbox.amdahl({"init"}, env);
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_NE(made.out.find("Configuration  " + file + "\n"), std::string::npos) << made.out;
  EXPECT_TRUE(sandbox.has("etc/amdahl.toml"));
  const Outcome after = sandbox.amdahl({"status"}, env);
  EXPECT_EQ(after.code, 0) << after.err;
}

TEST(Verbs, AFullDiskUnderStandardOutputIsAFailure) {
  Sandbox sandbox;
  const std::string& program = e2e::program();
  for (const char* words : {"version", "--help", "scan --help", "config --json"}) {
    SCOPED_TRACE(words);
    const Outcome full =
        run({"sh", "-c", program + " " + words + " > /dev/full"}, {}, sandbox.path());
    EXPECT_EQ(full.code, 3);
    EXPECT_EQ(full.err,
              "amdahl: standard output: No space left on device; the output is incomplete\n");
  }
}

TEST(Verbs, AnatomyDrawsPhasesAndGivesTheSameAsJson) {
  Sandbox sandbox;
  sandbox.write("phases.sh",
                "#!/bin/sh\nt=$(date +%s.%N)\nsleep 0.3\nu=$(date +%s.%N)\n"
                "echo \"{\\\"phase\\\":\\\"startup\\\",\\\"start\\\":$t,\\\"end\\\":$u}\" >> "
                "$AMDAHL_REPORT\ni=0; while [ $i -lt 200000 ]; do i=$((i+1)); done\n",
                true);
  ASSERT_EQ(
      sandbox.amdahl({"run", "--family", "phased", "--accelerators", "2", "--", "./phases.sh"})
          .code,
      0);
  const Outcome picture = sandbox.amdahl({"anatomy", "last", "--width", "80"});
  EXPECT_NE(picture.out.find("startup"), std::string::npos) << picture.out;
  const Json doc = json_of(sandbox.amdahl({"anatomy", "last", "--json"}));
  EXPECT_EQ(doc.at("accelerators").size(), 2U);
  const Json& split = doc.at("split_accelerator_s");
  EXPECT_NEAR(split.at("allocated").get<double>(),
              split.at("idle").get<double>() + split.at("low").get<double>() +
                  split.at("productive").get<double>() + split.at("unobserved").get<double>(),
              1e-6);
}

TEST(Verbs, AdoptDraftsASpecFromAJobAndItsArgparse) {
  Sandbox sandbox;
  sandbox.write("train.py",
                "import argparse\np = argparse.ArgumentParser()\n"
                "p.add_argument('--batch-size', type=int, default=8)\n"
                "p.add_argument(\"--num-workers\", type=int, default=2)\n"
                "p.add_argument('--lr', default=1.0)\np.parse_args()\n");
  ASSERT_EQ(
      sandbox.amdahl({"run", "--", "/usr/bin/python3", "train.py", "--num-workers", "4"}).code, 0);
  const Outcome adopted = sandbox.amdahl({"adopt", "last"});
  ASSERT_EQ(adopted.code, 0) << adopted.err;
  const std::string spec = sandbox.read("state/specs/train.toml");
  EXPECT_NE(spec.find("[knobs.batch_size]\narg = \"--batch-size\"\nvalue = \"8\""),
            std::string::npos)
      << spec;
  EXPECT_NE(spec.find("[knobs.loader_workers]\narg = \"--num-workers\"\nvalue = \"4\""),
            std::string::npos)
      << spec;
  const Json again = json_of(sandbox.amdahl({"adopt", "last", "--replace", "--json"}));
  EXPECT_FALSE(again.at("notes").empty()) << "outputs and work are for a person to name";
}

TEST(Verbs, ARollbackTakesTheChangeOutOfTheStack) {
  Sandbox sandbox;
  sandbox.add_nap_job();
  ASSERT_EQ(sandbox.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  ASSERT_EQ(sandbox.amdahl({"propose", "nap", "--env", "NAP=0.01", "--gain", "60"}).code, 0);
  const Outcome cycle = sandbox.amdahl({"cycle", "--watch", "--gate-policy", "demo"});
  ASSERT_EQ(cycle.code, 0) << cycle.err;
  const Json gate = json_of(sandbox.amdahl({"gate", "list", "--json"}));
  ASSERT_EQ(gate.at("gate").size(), 1U) << cycle.err;
  const std::string id = gate.at("gate").at(0).at("packet").at("hypothesis");
  EXPECT_EQ(gate.at("gate").at(0).at("decision").at("actor"), "policy:demo")
      << "a policy has its own name";
  EXPECT_EQ(sandbox.amdahl({"gate", "rollback", id}).code, 2) << "a reason is wanted";
  EXPECT_EQ(sandbox.amdahl({"gate", "rollback", id, "--reason", "pager", "--as", "ada"}).code, 0);
  EXPECT_EQ(sandbox.read("state/overlays/nap.toml").find("0.01"), std::string::npos);
  EXPECT_EQ(sandbox.amdahl({"ledger", "verify"}).code, 0);
}

TEST(Verbs, SecretsAreNotStored) {
  Sandbox sandbox;
  sandbox.add_nap_job();
  ASSERT_EQ(sandbox.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  const std::string secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
  ASSERT_EQ(sandbox.amdahl({"propose", "nap", "--env", "A=1", "--title", "use " + secret}).code, 0);
  EXPECT_EQ(sandbox.amdahl({"ledger", "export"}).out.find(secret), std::string::npos);
  sandbox.write("secret.toml",
                "family = \"s\"\ncommand = [\"true\"]\nworkdir = \".\"\n"
                "[env]\nAPI_TOKEN = \"hunter2hunter2\"\n");
  const Outcome refused = sandbox.amdahl({"adopt", "--spec", "secret.toml"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("looks like a secret"), std::string::npos) << refused.err;
}

TEST(Verbs, SimAnswersTheSameOnAnyNumberOfThreads) {
  Sandbox sandbox;
  const std::vector<std::string> words{"sim", "campaign", "--hypotheses", "400", "--seed", "3"};
  std::vector<std::string> two = words;
  two.insert(two.end(), {"--threads", "2"});
  std::vector<std::string> one = words;
  one.insert(one.end(), {"--threads", "1"});
  const Outcome first = sandbox.amdahl(one);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_NE(first.out.find("pairs per hypothesis"), std::string::npos) << first.out;
  EXPECT_EQ(sandbox.amdahl(two).out, first.out);
  const Outcome wrong = sandbox.amdahl({"sim", "campain"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("there is no table 'campain'; there are: campaign, decisions, errors,"),
            std::string::npos)
      << wrong.err;
  EXPECT_EQ(sandbox.amdahl({"sim", "--seed", "x"}).code, 2);
}

}  // namespace
}  // namespace amdahl::e2e
