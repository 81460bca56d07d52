// patch_test.cc: a fault in a job's source, from its line to the gate, in a real repository.
#include <gtest/gtest.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

// A library that drives a device. Whoever gives memory back waits until the device has done all
// that was asked of it; a wait takes as long on a busy host as on a quiet one.
constexpr const char* kLibrary = R"(import time


def forward(batch):
    return sum(batch)


def empty_cache(pool=0):
    time.sleep(0.05)
)";

// Most of its time goes into giving back memory that it asks for again.
constexpr const char* kJob = R"(import json
import os

import device

batches = [range(at, at + 1000) for at in range(12)]
total = 0
for batch in batches:
    total += device.forward(batch)
    device.empty_cache()
with open(os.path.join(os.environ["AMDAHL_OUT"], "result"), "w") as out:
    out.write("%d\n" % total)
with open(os.environ["AMDAHL_REPORT"], "a") as report:
    report.write(json.dumps({"work": 1}) + "\n")
)";
constexpr int kLine = 10;
constexpr const char* kFault = "    device.empty_cache()\n";

class Patch : public testing::Test {
 protected:
  void SetUp() override {
    // Not a wrapper that finds the right one first: it would take as long as the job.
    const Outcome python =
        run({"python3", "-c", "import sys; print(sys.executable, end='')"}, {}, sandbox_.path());
    if (python.code != 0) GTEST_SKIP() << "python3 is not installed: apt install python3";
    sandbox_.write("repo/jobs/tidy.py", kJob);
    sandbox_.write("repo/jobs/numbers", "12\n");
    sandbox_.write("site-packages/device.py", kLibrary);
    git({"init", "-q", "."});
    git({"config", "user.email", "ada@example.org"});
    git({"config", "user.name", "Ada"});
    commit("the job");
    // What is proposed to any job on a busy host it has already: the patch is to be alone.
    sandbox_.write("job.toml",
                   "family = \"tidy\"\ncommand = [\"" + python.out +
                       "\", \"tidy.py\"]\n"
                       "workdir = \"repo/jobs\"\nrepo = \"repo\"\n"
                       "build = [\"sh\", \"-c\", \"echo built >> '" +
                       sandbox_.path("builds") +
                       "'\"]\n"
                       "accelerators = 1\ntime_limit_s = 60\ninputs = "
                       "[\"numbers\"]\n[env]\nOMP_WAIT_POLICY = \"passive\"\nPYTHONPATH = \"" +
                       sandbox_.path("site-packages") +
                       "\"\n[work]\nunit = \"pass\"\n"
                       "[[outputs]]\npath = \"{out}/result\"\n");
    sandbox_.write("config.toml",
                   "[campaign]\nk = 4\n[compare]\ncap = 24\nmin_gain = 0.3\n[loop]\nlease_s = 3.0\n"
                   "per_family = 1\n");
    const Outcome adopted = sandbox_.amdahl({"adopt", "--spec", "job.toml"});
    ASSERT_EQ(adopted.code, 0) << adopted.err;
  }

  std::string git(const std::vector<std::string>& words) const {
    std::vector<std::string> argv = {"git"};
    argv.insert(argv.end(), words.begin(), words.end());
    const Outcome done = run(argv, {}, sandbox_.path("repo"));
    EXPECT_EQ(done.code, 0) << done.err;
    return done.out;
  }

  void commit(const std::string& why) const {
    git({"add", "jobs"});
    git({"commit", "-q", "-m", why});
  }

  Json json(const std::vector<std::string>& words) const { return json_of(sandbox_.amdahl(words)); }

  // Hypotheses that came from the source.
  std::vector<Json> patches() const {
    std::vector<Json> found;
    const Json list = json({"ledger", "list", "--json"});
    for (const Json& row : list.at("hypotheses")) {
      if (row.at("hypothesis").at("origin").at("kind") == "code") found.push_back(row);
    }
    return found;
  }

  // Payloads of events of one kind.
  std::vector<Json> events(const std::string& kind) const {
    EXPECT_EQ(sandbox_.amdahl({"ledger", "export", "--output", "ledger.jsonl"}).code, 0);
    std::vector<Json> found;
    std::string text = sandbox_.read("ledger.jsonl");
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const Json event = Json::parse(text.substr(at, end - at), nullptr, false);
      if (event.value("kind", "") == kind) found.push_back(event.at("payload"));
      at = end + 1;
    }
    return found;
  }

  Sandbox sandbox_;
};

TEST_F(Patch, AFaultInTheSourceIsFoundPatchedProvedAndPromoted) {
  const Json profile = json({"profile", "tidy", "--json"});
  ASSERT_FALSE(profile.at("findings").empty()) << profile.dump(1);
  const Json& finding = profile.at("findings").at(0);
  EXPECT_EQ(finding.at("file"), sandbox_.path("repo/jobs/tidy.py"));
  EXPECT_EQ(finding.at("line"), kLine);
  EXPECT_EQ(finding.at("rule"), "empty-cache");
  EXPECT_NE(std::string(finding.at("patch")).find("--- a/jobs/tidy.py\n"), std::string::npos);
  ASSERT_EQ(patches().size(), 1U);
  EXPECT_EQ(patches().at(0).at("hypothesis").at("origin").at("ref"), "empty-cache jobs/tidy.py:10");

  const std::string head = git({"rev-parse", "HEAD"});
  const Outcome cycle = sandbox_.amdahl({"cycle", "--watch"});
  ASSERT_EQ(cycle.code, 0) << cycle.err;
  const Json gate = json({"gate", "list", "--json"}).at("gate");
  ASSERT_EQ(gate.size(), 1U) << cycle.out << cycle.err;
  EXPECT_GT(gate.at(0).at("packet").at("comparison").at("effect").get<double>(), 0.3);
  EXPECT_NE(std::string(gate.at(0).at("packet").at("diff")).find(std::string("-") + kFault),
            std::string::npos);
  EXPECT_EQ(sandbox_.read("repo/jobs/tidy.py"), kJob) << "the checkout is left alone";
  EXPECT_EQ(count_lines(sandbox_.read("builds"), "built"), 2) << "once for each tree";
  int patched = 0;
  for (const Json& run : events("run.reserved")) {
    if (!run.at("request").contains("commit")) continue;
    EXPECT_EQ(std::string(run.at("request").at("commit")) + "\n", head);
    ++patched;
  }
  EXPECT_GE(patched, 5) << "each pair says which commit it ran";

  const std::string id = gate.at(0).at("packet").at("hypothesis");
  ASSERT_EQ(sandbox_.amdahl({"gate", "approve", id, "--reason", "it is true", "--as", "ada"}).code,
            0);
  // From now on what is profiled is the patched tree, and there it is gone.
  const Json after = json({"profile", "tidy", "--json"});
  for (const Json& left : after.at("findings"))
    EXPECT_NE(left.at("rule"), "empty-cache") << left.dump(1);
  EXPECT_EQ(patches().size(), 1U);
  EXPECT_EQ(sandbox_.amdahl({"ledger", "verify"}).code, 0);
}

TEST_F(Patch, WhatNoLongerAppliesIsInvalidAndNeverTriedAgain) {
  ASSERT_EQ(sandbox_.amdahl({"profile", "tidy"}).code, 0);
  ASSERT_EQ(patches().size(), 1U);
  std::string other = kJob;
  const std::string fault = kFault;
  other.replace(other.find(fault), fault.size(),
                "    device.empty_cache(1)\n    device.empty_cache(2)\n");
  sandbox_.write("repo/jobs/tidy.py", other);
  commit("another way to tidy up");
  const Outcome cycle = sandbox_.amdahl({"cycle", "--watch", "--slots", "1"});
  ASSERT_EQ(cycle.code, 0) << cycle.err;
  ASSERT_EQ(patches().size(), 1U);
  EXPECT_EQ(patches().at(0).at("state"), "invalid") << cycle.err;
  const std::string reason = patches().at(0).at("verdict").at("reason");
  EXPECT_TRUE(reason.starts_with("at commit " + git({"rev-parse", "HEAD"}).substr(0, 12) +
                                 " the patch does not apply: "))
      << reason;
  const std::string id = patches().at(0).at("hypothesis").at("id");
  int tested = 0;
  for (const Json& run : events("run.reserved"))
    tested += run.value("experiment", "") == "x" + id.substr(1);
  EXPECT_EQ(tested, 1) << "one look is enough";

  // The old lines return further down, and with them the same patch.
  sandbox_.write("repo/jobs/tidy.py", std::string("# Tidies up.\n\n") + kJob);
  commit("back to the old way");
  const Outcome again = sandbox_.amdahl({"profile", "tidy", "--json"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(json_of(again).at("findings").at(0).at("rule"), "empty-cache");
  EXPECT_NE(again.err.find(" not retried: 1 invalid"), std::string::npos) << again.err;
  EXPECT_EQ(patches().size(), 1U);
}

}  // namespace
}  // namespace amdahl::e2e
