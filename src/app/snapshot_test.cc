#include "app/snapshot.h"

#include "app/ran_with.h"
#include "app/test_kit.h"
#include "model/spec_digest.h"

namespace amdahl::app {
namespace {

class SnapshotTest : public ContextTest {
 protected:
  void adopt(const model::Spec& spec) {
    ASSERT_EQ(say({{"family.adopted", "ada", spec.family, encode(spec)}}), "");
  }

  static model::Spec spec() {
    model::Spec spec;
    spec.family = "eval";
    spec.command = {"run"};
    spec.workdir = "/";
    spec.metric = "throughput";
    spec.lower_is_better = false;
    return spec;
  }

  std::vector<loop::Close> closes() {
    std::vector<loop::Close> found;
    for (const loop::Intent& intent : take_snapshot(context_)->experiments.plan()) {
      if (const auto* close = std::get_if<loop::Close>(&intent)) found.push_back(*close);
    }
    return found;
  }
};

TEST_F(SnapshotTest, AReplacedSpecEndsWhatWasRegisteredUnderTheOld) {
  adopt(spec());
  model::Hypothesis h;
  h.id = "h-1";
  h.family = "eval";
  h.key = "key1";
  model::Experiment e;
  e.id = "x-1";
  e.hypothesis = "h-1";
  e.family = "eval";
  e.campaign = "c1";
  e.metric = "throughput";
  e.lower_is_better = false;
  e.spec = field_digests(spec());
  e.baseline = digest(*make_plan(spec(), {}));
  ASSERT_EQ(say({{"campaign.opened", "cycle", "c1", {{"k", 50}, {"alpha", 0.1}}},
                 {"hypothesis.proposed", "ada", "h-1", encode(h)},
                 {"experiment.registered", "cycle", "x-1", encode(e)}}),
            "");
  EXPECT_TRUE(closes().empty());
  adopt(spec());
  EXPECT_TRUE(closes().empty()) << "the same spec again changes nothing";
  model::Spec flipped = spec();
  flipped.lower_is_better = true;
  adopt(flipped);
  ASSERT_EQ(closes().size(), 1U);
  EXPECT_EQ(closes()[0].verdict, model::VerdictKind::kAborted);
  EXPECT_NE(closes()[0].reason.find("(metric direction)"), std::string::npos);
  model::Spec unit = spec();
  unit.work_unit = "images";
  adopt(unit);
  ASSERT_EQ(closes().size(), 1U);
  EXPECT_NE(closes()[0].reason.find("(unit of work)"), std::string::npos);
}

// What arms run with besides the spec was registered with it. What was not known then, as in older
// ledgers, cannot be told to have changed.
TEST_F(SnapshotTest, AnotherEnvironmentOrCodeEndsWhatWasRegisteredUnderTheOld) {
  model::Spec in_repo = spec();
  in_repo.repo = "/repo";
  adopt(in_repo);
  ASSERT_TRUE(pin_environment(context_, "eval", in_repo, false));
  context_.sources["eval"] = {"/repo", "c0de", clock_.monotonic()};
  const std::string environment = ran_with(context_, "eval", in_repo).environment;
  ASSERT_EQ(environment.size(), 16U);
  const auto closed = [&](const std::string& id, std::map<std::string, std::string> more) {
    model::Hypothesis h;
    h.id = "h-" + id;
    h.family = "eval";
    h.key = id;
    model::Experiment e;
    e.id = "x-" + id;
    e.hypothesis = h.id;
    e.family = "eval";
    e.campaign = "c1";
    e.metric = "throughput";
    e.lower_is_better = false;
    e.spec = field_digests(in_repo);
    e.spec.merge(more);
    e.baseline = digest(*make_plan(in_repo, {}));
    EXPECT_EQ(say({{"hypothesis.proposed", "ada", h.id, encode(h)},
                   {"experiment.registered", "cycle", e.id, encode(e)}}),
              "");
    for (const loop::Close& close : closes()) {
      if (close.experiment == e.id) return close.reason;
    }
    return std::string();
  };
  ASSERT_EQ(say({{"campaign.opened", "cycle", "c1", {{"k", 50}, {"alpha", 0.1}}}}), "");
  EXPECT_EQ(closed("old", {}), "");
  EXPECT_EQ(closed("same", {{"environment", environment}, {"source code", "c0de"}}), "");
  EXPECT_NE(
      closed("shell", {{"environment", "0123"}, {"source code", "c0de"}}).find("(environment)"),
      std::string::npos);
  EXPECT_NE(closed("edit", {{"environment", environment}, {"source code", "c0de+1"}})
                .find("(source code)"),
            std::string::npos);
}

// It waits for more slots; the others of its family do not wait for it.
TEST_F(SnapshotTest, AChangeThatNeedsMoreSlotsThanThereAreIsLeftOutAlone) {
  adopt(spec());
  context_.config.slots = {0, 1};
  model::Hypothesis wide;
  wide.id = "h-1";
  wide.family = "eval";
  wide.key = "key1";
  wide.title = "four at once";
  wide.change.accelerators = 4;
  model::Hypothesis narrow = wide;
  narrow.id = "h-2";
  narrow.key = "key2";
  narrow.change.accelerators = 2;
  ASSERT_EQ(say({{"hypothesis.proposed", "ada", "h-1", encode(wide)},
                 {"hypothesis.proposed", "ada", "h-2", encode(narrow)}}),
            "");
  const auto two = take_snapshot(context_);
  ASSERT_EQ(two->experiments.state().queued.size(), 1U);
  EXPECT_EQ(two->experiments.state().queued[0].hypothesis, "h-2");
  EXPECT_EQ(two->left_out, (std::map<std::string, std::string>{
                               {"eval 'four at once'",
                                "it needs 4 CPU slots and there are 2; give more with --slots"}}));
  EXPECT_TRUE(two->skipped.empty());
  context_.config.slots = {0, 1, 2, 3};
  EXPECT_EQ(take_snapshot(context_)->experiments.state().queued.size(), 2U);
}

}  // namespace
}  // namespace amdahl::app
