#include "app/scan_cycle.h"

#include "app/test_kit.h"
#include "model/plan.h"

namespace amdahl::app {
namespace {

class ScanCycleTest : public ContextTest {
 protected:
  static scan::Pick picked(const std::string& family, double recoverable) {
    scan::Pick pick;
    pick.why = fmt::format("{} to get back", recoverable);
    pick.first = scan::Candidate{.family = family,
                                 .recoverable = recoverable,
                                 .wasted = 2 * recoverable,
                                 .job = "j-1",
                                 .has_spec = true,
                                 .why = pick.why};
    return pick;
  }

  // How often a choice was written so far, after this one.
  int choices(const scan::Pick& pick) {
    EXPECT_TRUE(record_choice(context_, pick, [this](const std::string& text) { said_ = text; }));
    int count = 0;
    EXPECT_TRUE(context_.ledger->each_event(0, [&](const ledger::Event& event) {
      count += event.kind == "scan.chose" ? 1 : 0;
      return true;
    }));
    return count;
  }

  std::string said_;
};

TEST_F(ScanCycleTest, TheSameChoiceIsWrittenOnce) {
  EXPECT_EQ(choices(picked("eval", 100)), 1);
  EXPECT_EQ(said_, "next: eval: 100 to get back");
  EXPECT_EQ(choices(picked("eval", 105)), 1) << "figures move a little with every job";
  EXPECT_EQ(choices(picked("eval", 150)), 2);
  EXPECT_EQ(choices(picked("train", 150)), 3);
  scan::Pick behind = picked("train", 150);
  behind.next.push_back(*picked("eval", 90).first);
  EXPECT_EQ(choices(behind), 4) << "another order";
  behind.passed_over.push_back(*picked("vision", 900).first);
  EXPECT_EQ(choices(behind), 5);
  EXPECT_EQ(choices(behind), 5);
  const Json body = (*context_.ledger->choice())->body;
  EXPECT_EQ(body.at("next").at(0).at("family"), "eval");
  EXPECT_EQ(body.at("next").at(0).at("why"), "90 to get back");
  EXPECT_EQ(body.at("passed_over").at(0).at("why"), "900 to get back");
  scan::Pick nothing;
  nothing.why = "nothing has anything to get back";
  EXPECT_EQ(choices(nothing), 6);
  EXPECT_EQ(choices(nothing), 6);
  EXPECT_EQ((*context_.ledger->choice())->family, "");
}

TEST_F(ScanCycleTest, AFamilyWithNothingLeftToTryIsAtRest) {
  adopt();
  const auto why = [&] {
    const auto snapshot = take_snapshot(context_);
    EXPECT_TRUE(snapshot);
    return standing_of(*snapshot, {}).specs.at("eval");
  };
  EXPECT_EQ(why(), "") << "it is to be profiled";
  model::Profile profile;
  profile.id = "p-1";
  profile.family = "eval";
  const ledger::Family family = *context_.ledger->family("eval");
  profile.baseline = digest(*make_plan(family.spec, family.baseline));
  profile.at = clock_.unix_time();
  ASSERT_EQ(say({{"profile.recorded", "cycle", "eval", encode(profile)}}), "");
  EXPECT_EQ(why(), "every known idea has a verdict; amdahl cycle --refresh looks for more");
  model::Hypothesis idea;
  idea.id = "h-1";
  idea.family = "eval";
  idea.key = "key";
  idea.change.args["--batch"] = "32";
  ASSERT_EQ(say({{"hypothesis.proposed", "cycle", "h-1", encode(idea)}}), "");
  EXPECT_EQ(why(), "");
}

}  // namespace
}  // namespace amdahl::app
