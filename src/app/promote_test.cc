#include "app/promote.h"

#include "app/overlay.h"
#include "app/test_kit.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

class PromoteTest : public ContextTest {
 protected:
  PromoteTest() { adopt(); }

  static model::Change patch(const std::string& text) {
    model::Change change;
    change.patch = text;
    return change;
  }
  static model::Change variable(const std::string& name) {
    model::Change change;
    change.env[name] = "1";
    return change;
  }
  std::string overlay() { return *os::read_file(context_.path("overlays/eval.toml")); }
  std::vector<std::string> patches() { return os::list(context_.path("overlays/eval")); }
};

TEST_F(PromoteTest, OverlayAndPatchesFollowTheStackAlsoWhenItIsEmpty) {
  promote("h-1", variable("FAST"));
  promote("h-2", patch("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"));
  EXPECT_EQ(patches(), std::vector<std::string>{"02-h-2.patch"});
  ASSERT_TRUE(roll_back(context_, "h-2", "ada", "slow"));
  EXPECT_EQ(patches(), std::vector<std::string>{});
  EXPECT_NE(overlay().find("stack = [\"h-1\"]"), std::string::npos);
  // The process that rolled back died before it wrote the overlay: whoever comes next does.
  const std::string stale = overlay();
  ASSERT_TRUE(roll_back(context_, "h-1", "ada", "slow"));
  ASSERT_TRUE(os::write_file(context_.path("overlays/eval.toml"), stale));
  ASSERT_TRUE(write_overlay(context_, "eval"));
  EXPECT_NE(overlay().find("stack = []"), std::string::npos);
  EXPECT_EQ(overlay().find("FAST"), std::string::npos);
}

TEST_F(PromoteTest, AFamilyThatWonNothingHasNoOverlay) {
  ASSERT_TRUE(write_overlay(context_, "eval"));
  EXPECT_FALSE(os::exists(context_.path("overlays/eval.toml")));
}

TEST_F(PromoteTest, TheSecondOfTwoClaimsOnOneBaselineIsAConflict) {
  open_gate("h-1", variable("A"));
  open_gate("h-2", variable("B"));
  const ledger::GateRow seen = *find_gate(context_, "h-2");
  ASSERT_TRUE(decide(context_, *find_gate(context_, "h-1"), {true, "ada", "fine"}));
  const auto late = decide(context_, seen, {true, "eve", "fine"});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, Error::Kind::kConflict);
  EXPECT_EQ(context_.ledger->family("eval")->stack, std::vector<std::string>{"h-1"});
}

TEST_F(PromoteTest, NothingIsDecidedByAnEmptyName) {
  open_gate("h-1", variable("A"));
  for (const std::string id : {"", " "}) {
    const auto found = find_gate(context_, id);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, Error::Kind::kBadInput);
  }
}

}  // namespace
}  // namespace amdahl::app
