#include "app/artefact.h"

#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "app/git.h"
#include "app/test_kit.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

constexpr const char* kPatch = "--- a/job.py\n+++ b/job.py\n@@ -1 +1 @@\n-slow\n+fast\n";

class ArtefactTest : public ContextTest {
 protected:
  // A repository with one commit; the family works there.
  void SetUp() override {
    repo_ = (folder_ / "repo").string();
    ASSERT_TRUE(os::make_dirs(repo_));
    git({"init", "-q", "-b", "main"});
    ASSERT_TRUE(os::write_file(repo_ + "/job.py", "slow\n"));
    git({"add", "job.py"});
    git({"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first"});
    model::Spec spec;
    spec.family = "eval";
    spec.command = {"python3", "job.py"};
    spec.workdir = repo_;
    spec.repo = repo_;
    ASSERT_EQ(say({{"family.adopted", "ada", spec.family, encode(spec)},
                   {"campaign.opened", "cycle", "c1", {{"k", 50}, {"alpha", 0.1}}}}),
              "");
  }

  std::string git(const std::vector<std::string>& words) {
    const auto said = said_by(git_in(repo_, words));
    EXPECT_TRUE(said) << (said ? "" : said.error().text);
    return said ? *said : "";
  }

  std::string approve(const std::string& id, const model::Change& change) {
    open_gate(id, change);
    const auto done = decide(context_, *find_gate(context_, id), {true, "ada", "it is true"});
    EXPECT_TRUE(done) << (done ? "" : done.error().text);
    return done ? *done : "";
  }

  std::string repo_;
};

TEST_F(ArtefactTest, APromotionWritesABranchWithItsEvidenceAndLeavesTheCheckoutAlone) {
  context_.config.gate_branch = "amdahl/";
  model::Change change;
  change.patch = kPatch;
  const std::string said = approve("h-1", change);
  EXPECT_NE(said.find("branch amdahl/eval/h-1"), std::string::npos) << said;
  EXPECT_EQ(git({"show", "amdahl/eval/h-1:job.py"}), "fast\n");
  EXPECT_NE(git({"show", "amdahl/eval/h-1:amdahl/eval.toml"}).find("h-1"), std::string::npos);
  const std::string message = git({"log", "-1", "--format=%B", "amdahl/eval/h-1"});
  EXPECT_NE(message.find("Approved by ada: it is true"), std::string::npos) << message;
  EXPECT_NE(message.find("Hypothesis: h-1"), std::string::npos);
  EXPECT_EQ(git({"rev-parse", "amdahl/eval/h-1^"}), git({"rev-parse", "main"}));
  EXPECT_EQ(git({"status", "--porcelain"}), "");
  EXPECT_EQ(*os::read_file(repo_ + "/job.py"), "slow\n");

  // The next one has both.
  model::Change variable;
  variable.env["FAST"] = "1";
  approve("h-2", variable);
  EXPECT_EQ(git({"show", "amdahl/eval/h-2:job.py"}), "fast\n");
  EXPECT_NE(git({"show", "amdahl/eval/h-2:amdahl/eval.toml"}).find("FAST"), std::string::npos);
  EXPECT_TRUE(os::list(context_.path("promotions")).empty());
}

TEST_F(ArtefactTest, WhatCannotBeWrittenIsSaidAndThePromotionStands) {
  context_.config.gate_branch = "amdahl/";
  git({"branch", "amdahl/eval/h-1"});
  model::Change change;
  change.env["A"] = "1";
  const std::string said = approve("h-1", change);
  EXPECT_NE(said.find("the branch failed: the branch amdahl/eval/h-1 exists"), std::string::npos);
  EXPECT_EQ((*context_.ledger->family("eval")).stack, std::vector<std::string>{"h-1"});
}

TEST_F(ArtefactTest, TheHookGetsTheFactsAndHowItEndedIsInItsLog) {
  const std::string out = context_.path("told");
  context_.config.gate_hook = fmt::format("cat > '{}'; exit 3", out);
  model::Change change;
  change.env["A"] = "1";
  approve("h-1", change);
  wait_for(context_.path("promotions/h-1.log"), "amdahl: hook ended with 3\n");
  const Json told = *parse_json(*os::read_file(out));
  EXPECT_EQ(told.at("event"), "promoted");
  EXPECT_EQ(told.at("family"), "eval");
  EXPECT_EQ(told.at("hypothesis"), "h-1");
  EXPECT_EQ(told.at("decision").at("actor"), "ada");
  EXPECT_EQ(told.at("packet").at("experiment"), "xh-1");
  EXPECT_TRUE(told.at("branch").is_null());

  ASSERT_TRUE(roll_back(context_, "h-1", "eve", "slow"));
  wait_for(context_.path("promotions/h-1.rollback.log"), "amdahl: hook ended with 3\n");
  const Json back = *parse_json(*os::read_file(out));
  EXPECT_EQ(back.at("event"), "rolled back");
  EXPECT_EQ(back.at("decision").at("reason"), "slow");
}

}  // namespace
}  // namespace amdahl::app
