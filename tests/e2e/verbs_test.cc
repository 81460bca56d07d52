// verbs_test.cc: the verbs beside the loop, as a person types them.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness.h"

namespace amdahl::e2e {
namespace {

using Json = nlohmann::json;

TEST(Verbs, EveryVerbHasAPageWithAnExample) {
  House house;
  const Outcome all = house.amdahl({"--help"});
  ASSERT_EQ(all.code, 0);
  for (const char* verb :
       {"run",     "scan", "anatomy", "adopt", "profile", "propose",    "cycle",
        "status",  "gate", "canary",  "stack", "ledger",  "dream",      "roi",
        "compare", "sim",  "doctor",  "init",  "config",  "completion", "version"}) {
    SCOPED_TRACE(verb);
    EXPECT_EQ(count_lines(all.out, std::string("  ") + verb + " "), 1);
    const Outcome page = house.amdahl({verb, "--help"});
    EXPECT_EQ(page.code, 0);
    EXPECT_NE(page.out.find("Example"), std::string::npos) << page.out;
    EXPECT_NE(page.out.find("Exit codes"), std::string::npos);
  }
}

TEST(Verbs, AnatomyDrawsPhasesAndGivesTheSameAsJson) {
  House house;
  house.write("phases.sh",
              "#!/bin/sh\nt=$(date +%s.%N)\nsleep 0.3\nu=$(date +%s.%N)\n"
              "echo \"{\\\"phase\\\":\\\"startup\\\",\\\"start\\\":$t,\\\"end\\\":$u}\" >> "
              "$AMDAHL_REPORT\ni=0; while [ $i -lt 200000 ]; do i=$((i+1)); done\n",
              true);
  ASSERT_EQ(
      house.amdahl({"run", "--family", "phased", "--accelerators", "2", "--", "./phases.sh"}).code,
      0);
  const Outcome picture = house.amdahl({"anatomy", "last", "--width", "80"});
  EXPECT_NE(picture.out.find("startup"), std::string::npos) << picture.out;
  EXPECT_NE(picture.out.find("compute, infinitely fast"), std::string::npos) << picture.out;
  const Json doc = Json::parse(house.amdahl({"anatomy", "last", "--json"}).out);
  EXPECT_EQ(doc["accelerators"].size(), 2U);
  const Json& split = doc["split_accelerator_s"];
  EXPECT_NEAR(split["allocated"].get<double>(),
              split["idle"].get<double>() + split["low"].get<double>() +
                  split["productive"].get<double>() + split["unobserved"].get<double>(),
              1e-6);
}

TEST(Verbs, AdoptDraftsASpecFromAJobAndItsArgparse) {
  House house;
  house.write("train.py",
              "import argparse\np = argparse.ArgumentParser()\n"
              "p.add_argument('--batch-size', type=int, default=8)\n"
              "p.add_argument(\"--num-workers\", type=int, default=2)\n"
              "p.add_argument('--lr', default=1.0)\np.parse_args()\n");
  ASSERT_EQ(house.amdahl({"run", "--", "/usr/bin/python3", "train.py", "--num-workers", "4"}).code,
            0);
  const Outcome adopted = house.amdahl({"adopt", "last"});
  ASSERT_EQ(adopted.code, 0) << adopted.err;
  const std::string spec = house.read("state/specs/train.toml");
  EXPECT_NE(spec.find("[knobs.batch_size]\narg = \"--batch-size\"\nvalue = \"8\""),
            std::string::npos)
      << spec;
  EXPECT_NE(spec.find("[knobs.loader_workers]\narg = \"--num-workers\"\nvalue = \"4\""),
            std::string::npos)
      << spec;
  EXPECT_NE(adopted.out.find("to do: name what must stay the same"), std::string::npos);
}

TEST(Verbs, ARollbackTakesTheChangeOutOfTheStack) {
  House house;
  house.add_nap_job();
  ASSERT_EQ(house.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  ASSERT_EQ(house.amdahl({"propose", "nap", "--env", "NAP=0.01", "--gain", "60"}).code, 0);
  ASSERT_EQ(house.amdahl({"cycle", "--watch", "--quiet", "--gate-policy", "demo"}).code, 0);
  const Json gate = Json::parse(house.amdahl({"gate", "list", "--json"}).out);
  const std::string id = gate["gate"][0]["packet"]["hypothesis"];
  EXPECT_EQ(gate["gate"][0]["decision"]["actor"], "policy:demo") << "a policy has its own name";
  EXPECT_EQ(house.amdahl({"gate", "rollback", id}).code, 2) << "a reason is wanted";
  EXPECT_EQ(house.amdahl({"gate", "rollback", id, "--reason", "pager", "--as", "ada"}).code, 0);
  EXPECT_EQ(house.read("state/overlays/nap.toml").find("0.01"), std::string::npos);
  EXPECT_EQ(house.amdahl({"ledger", "verify"}).code, 0);
}

TEST(Verbs, SecretsAreNotStored) {
  House house;
  house.add_nap_job();
  ASSERT_EQ(house.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  const std::string secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
  ASSERT_EQ(house.amdahl({"propose", "nap", "--env", "A=1", "--title", "use " + secret}).code, 0);
  EXPECT_EQ(house.amdahl({"ledger", "export"}).out.find(secret), std::string::npos);
  house.write("secret.toml",
              "family = \"s\"\ncommand = [\"true\"]\nworkdir = \".\"\n"
              "[env]\nAPI_TOKEN = \"hunter2hunter2\"\n");
  const Outcome refused = house.amdahl({"adopt", "--spec", "secret.toml"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("looks like a secret"), std::string::npos) << refused.err;
}

TEST(Verbs, SimAnswersTheSameOnAnyNumberOfThreads) {
  House house;
  const std::vector<std::string> words{"sim", "campaign", "--hypotheses", "400", "--seed", "3"};
  std::vector<std::string> two = words;
  two.insert(two.end(), {"--threads", "2"});
  std::vector<std::string> one = words;
  one.insert(one.end(), {"--threads", "1"});
  const Outcome first = house.amdahl(one);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_NE(first.out.find("pairs per hypothesis"), std::string::npos) << first.out;
  EXPECT_EQ(house.amdahl(two).out, first.out);
  const Outcome wrong = house.amdahl({"sim", "campain"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("there is no table 'campain'; there are: campaign, decisions, errors,"),
            std::string::npos)
      << wrong.err;
  EXPECT_EQ(house.amdahl({"sim", "--seed", "x"}).code, 2);
}

}  // namespace
}  // namespace amdahl::e2e
