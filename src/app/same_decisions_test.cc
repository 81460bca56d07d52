// The loop's decisions on promotion, rollback and another try, carried out by the ledger as in
// `amdahl cycle` and by the memory of `amdahl sim`: what breaks in the loop breaks both.
#include <algorithm>
#include <memory>
#include <optional>

#include "app/effects.h"
#include "app/promote.h"
#include "app/test_kit.h"
#include "loop/experiments.h"
#include "model/plan.h"
#include "sim/memory.h"

namespace amdahl::app {
namespace {

using model::VerdictKind;

constexpr std::string_view kFamily = "eval";

// One of the two ways to carry out what the loop decides. Two experiments of one family wait at
// its gate: hypotheses 0 and 1, which set N.
class Carrier {
 public:
  virtual ~Carrier() = default;
  virtual void look() {}                          // Before a decision.
  virtual std::string packet(int) { return ""; }  // What a decision says that it saw.
  virtual loop::Experiments& experiments() = 0;
  virtual loop::Effects& effects() = 0;
  virtual model::Change baseline() = 0;
  virtual int promoted() = 0;  // Of the campaign.
  virtual std::optional<VerdictKind> verdict(int number) = 0;
  virtual bool in_stack(int number) = 0;
  virtual bool reopened(int number) = 0;
};

model::Hypothesis idea(int number) {
  model::Hypothesis h;
  h.id = sim::hypothesis_id(number);
  h.family = kFamily;
  h.key = h.id;
  h.title = "idea";
  h.predicted_gain = 0.2;
  h.change.env["N"] = std::to_string(number);
  return h;
}

model::Spec spec_of_family() {
  model::Spec spec;
  spec.family = kFamily;
  spec.command = {"run"};
  spec.workdir = "/";
  return spec;
}

model::Experiment test_of(int number) {
  model::Experiment e;
  e.hypothesis = sim::hypothesis_id(number);
  e.id = "x-" + e.hypothesis.substr(2);
  e.family = kFamily;
  e.campaign = "c-1";
  e.baseline = digest(*make_plan(spec_of_family(), {}));
  return e;
}

model::Comparison seen_comparison() {
  model::Comparison comparison;
  comparison.pairs = 12;
  comparison.log_e_win = 9;
  comparison.effect = 0.22;
  comparison.shrunk = 0.2;
  return comparison;
}

class InMemory : public Carrier {
 public:
  InMemory() {
    loop::FamilyRecord record;
    record.spec = spec_of_family();
    record.state.name = kFamily;
    EXPECT_TRUE(experiments_.add(std::move(record)));
    campaign_.outcomes.resize(2);
    for (int i = 0; i < 2; ++i) {
      experiments_.add(idea(i));
      EXPECT_TRUE(experiments_.add(test_of(i), model::Stage::kGate, {}, seen_comparison()));
    }
  }

  loop::Experiments& experiments() override { return experiments_; }
  loop::Effects& effects() override { return memory_; }
  model::Change baseline() override { return memory_.baselines[std::string(kFamily)]; }
  int promoted() override {
    return static_cast<int>(std::ranges::count_if(
        campaign_.outcomes, [](const sim::Outcome& outcome) { return outcome.promoted; }));
  }
  std::optional<VerdictKind> verdict(int number) override { return of(number).verdict; }
  bool in_stack(int number) override { return of(number).kept(); }
  bool reopened(int number) override { return of(number).reopened; }

 private:
  const sim::Outcome& of(int number) {
    return campaign_.outcomes.at(static_cast<std::size_t>(number));
  }

  sim::Campaign campaign_;
  sim::Memory memory_{campaign_, 7};
  loop::Experiments experiments_{{}, {"c-1", "5eed", {50, 0.1, 0}, 2}, {}};
};

class InLedger : public Carrier {
 public:
  explicit InLedger(Context& context) : context_{context} {
    std::vector<ledger::Draft> drafts{
        {"family.adopted", "ada", std::string(kFamily), encode(spec_of_family())},
        {"campaign.opened", "cycle", "c-1", {{"k", 50}, {"alpha", 0.1}}}};
    for (int i = 0; i < 2; ++i) {
      const model::Experiment e = test_of(i);
      model::GatePacket packet;
      packet.experiment = e.id;
      packet.hypothesis = e.hypothesis;
      packet.family = kFamily;
      packet.comparison = seen_comparison();
      drafts.push_back({"hypothesis.proposed", "ada", e.hypothesis, encode(idea(i))});
      drafts.push_back({"experiment.registered", "cycle", e.id, encode(e)});
      drafts.push_back({"comparison.made", "cycle", e.id, encode(packet.comparison)});
      drafts.push_back({"gate.opened", "cycle", e.id, encode(packet)});
      drafts.push_back({"experiment.staged", "cycle", e.id, {{"stage", "gate"}}});
    }
    const auto done = context_.ledger->append(drafts);
    EXPECT_TRUE(done) << done.error().text;
    look();
  }

  // Whoever decides next starts from the ledger, as a cycle or a person's command does.
  void look() override {
    snapshot_.emplace(*take_snapshot(context_));
    effects_.emplace(context_, *snapshot_, 0, say_);
  }
  std::string packet(int number) override {
    return find_gate(context_, sim::hypothesis_id(number))->digest;
  }
  loop::Experiments& experiments() override { return snapshot_->experiments; }
  loop::Effects& effects() override { return *effects_; }
  model::Change baseline() override {
    return context_.ledger->family(std::string(kFamily))->baseline;
  }
  int promoted() override { return (*context_.ledger->campaign())->promoted; }
  std::optional<VerdictKind> verdict(int number) override {
    const auto verdict = *context_.ledger->verdict(sim::hypothesis_id(number));
    return verdict ? std::optional(verdict->kind) : std::nullopt;
  }
  bool in_stack(int number) override {
    const std::vector<std::string> stack = context_.ledger->family(std::string(kFamily))->stack;
    return std::ranges::find(stack, sim::hypothesis_id(number)) != stack.end();
  }
  bool reopened(int number) override {
    return context_.ledger->hypothesis(sim::hypothesis_id(number))->state == "reopened";
  }

 private:
  Context& context_;
  Say say_;
  std::optional<Snapshot> snapshot_;
  std::optional<LedgerEffects> effects_;
};

class SameDecisions : public ContextTest, public testing::WithParamInterface<std::string> {
 protected:
  SameDecisions() {
    if (GetParam() == "ledger") {
      carrier_ = std::make_unique<InLedger>(context_);
    } else {
      carrier_ = std::make_unique<InMemory>();
    }
  }

  Result<> decide(int number, bool approved) {
    carrier_->look();
    const model::GateDecision decision{approved, "ada", "as measured", carrier_->packet(number)};
    return agreed(
        carrier_->experiments().decide(test_of(number).id, decision, carrier_->effects()));
  }
  Result<> roll_back(int number) {
    carrier_->look();
    return agreed(carrier_->experiments().roll_back(std::string(kFamily),
                                                    sim::hypothesis_id(number), "ada",
                                                    "dear in production", carrier_->effects()));
  }
  Result<> reopen(int number) {
    carrier_->look();
    return agreed(carrier_->experiments().reopen({idea(number), *carrier_->verdict(number)}, "ada",
                                                 "another machine", carrier_->effects()));
  }
  // Acts on what the loop decides by itself.
  void rest() {
    const std::vector<loop::Intent> intents = carrier_->experiments().plan();
    for (const loop::Intent& intent : intents) {
      if (!std::holds_alternative<loop::Close>(intent)) continue;
      const auto acted = carrier_->experiments().act(intent, carrier_->effects());
      ASSERT_TRUE(acted) << acted.error().text;
    }
  }
  // What the loop believes is what was carried out.
  Result<> agreed(Result<> done) {
    const loop::Experiments& experiments = carrier_->experiments();
    EXPECT_EQ(experiments.state().campaign.promoted, carrier_->promoted());
    EXPECT_EQ(experiments.family(std::string(kFamily)).baseline, carrier_->baseline());
    return done;
  }
  static model::Change with(int number) { return idea(number).change; }

  std::unique_ptr<Carrier> carrier_;
};

TEST_P(SameDecisions, APromotionMovesTheBaselineAndEndsWhatWasMeasuredOnTheOld) {
  ASSERT_TRUE(decide(0, true));
  EXPECT_EQ(carrier_->verdict(0), VerdictKind::kPromoted);
  EXPECT_EQ(carrier_->baseline(), with(0));
  EXPECT_TRUE(carrier_->in_stack(0));
  EXPECT_EQ(carrier_->promoted(), 1);
  const auto second = decide(1, true);
  ASSERT_FALSE(second) << "it was measured on the old baseline";
  EXPECT_EQ(second.error().kind, Error::Kind::kConflict);
  EXPECT_FALSE(decide(0, true)) << "only once";
  rest();
  EXPECT_EQ(carrier_->verdict(1), VerdictKind::kAborted);
  EXPECT_EQ(carrier_->baseline(), with(0));
  EXPECT_EQ(carrier_->promoted(), 1);
}

TEST_P(SameDecisions, ARefusalLeavesTheBaselineAndTheLevelAsTheyWere) {
  ASSERT_TRUE(decide(0, false));
  EXPECT_EQ(carrier_->verdict(0), VerdictKind::kDeclined);
  EXPECT_EQ(carrier_->baseline(), model::Change{});
  EXPECT_EQ(carrier_->promoted(), 0);
  ASSERT_TRUE(decide(1, true));
  EXPECT_EQ(carrier_->baseline(), with(1));
}

TEST_P(SameDecisions, ARollbackTakesTheChangeOutAndGivesNoLevelBack) {
  EXPECT_FALSE(roll_back(0)) << "it is not in the stack";
  ASSERT_TRUE(decide(0, true));
  ASSERT_TRUE(roll_back(0));
  EXPECT_EQ(carrier_->baseline(), model::Change{});
  EXPECT_FALSE(carrier_->in_stack(0));
  EXPECT_EQ(carrier_->verdict(0), VerdictKind::kPromoted) << "a verdict never changes";
  EXPECT_EQ(carrier_->promoted(), 1);
  EXPECT_FALSE(roll_back(0)) << "only once";
}

TEST_P(SameDecisions, WhatIsReopenedIsOutOfTheStackFirst) {
  ASSERT_TRUE(decide(0, true));
  EXPECT_FALSE(reopen(0));
  EXPECT_FALSE(carrier_->reopened(0));
  ASSERT_TRUE(roll_back(0));
  ASSERT_TRUE(reopen(0));
  EXPECT_TRUE(carrier_->reopened(0));
  ASSERT_TRUE(decide(1, false));
  ASSERT_TRUE(reopen(1));
  EXPECT_TRUE(carrier_->reopened(1));
}

INSTANTIATE_TEST_SUITE_P(By, SameDecisions, testing::Values("ledger", "memory"),
                         [](const auto& about) { return about.param; });

}  // namespace
}  // namespace amdahl::app
