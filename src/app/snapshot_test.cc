#include "app/snapshot.h"

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

}  // namespace
}  // namespace amdahl::app
