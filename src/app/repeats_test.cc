// A proposer that repeats itself, over many cycles: what was refuted is tested once, until a person
// reopens it.
#include "app/answer.h"
#include "app/test_kit.h"

namespace amdahl::app {
namespace {

constexpr int kCycles = 200;
constexpr int kIdeas = 5;

class RepeatsTest : public ContextTest {
 protected:
  void SetUp() override {
    model::Spec spec;
    spec.family = "eval";
    spec.command = {"run", "--batch", "8", "--lr", "1"};
    spec.workdir = folder_.string();
    model::Knob batch;
    batch.name = "batch_size";
    batch.arg = "--batch";
    batch.aliases = {"-b"};
    batch.value = "8";
    batch.max = 4096;
    spec.knobs["batch_size"] = batch;
    model::Profile profile;
    profile.id = "p-1";
    profile.family = "eval";
    ASSERT_EQ(say({{"family.adopted", "ada", spec.family, encode(spec)},
                   {"campaign.opened", "cycle", "c1", {{"k", 500}, {"alpha", 0.1}}},
                   {"profile.recorded", "cycle", "eval", encode(profile)}}),
              "");
  }

  // The n-th idea in one of its spellings.
  static Json idea(int n, int cycle) {
    const int value = 16 << n;
    const std::string flag = cycle % 2 == 0 ? "--batch" : "-b";
    const std::string spelled = cycle % 3 == 0   ? fmt::format("{}", value)
                                : cycle % 3 == 1 ? fmt::format("0{}", value)
                                                 : fmt::format("{}.0", value);
    Json change{{"env", Json::array()},         {"args", Json::array()},
                {"config", Json::array()},      {"inject", Json::array()},
                {"accelerators", nullptr},      {"patch", ""},
                {"needs_build", cycle % 5 == 0}};
    change["args"].push_back({{"name", flag}, {"value", spelled}});
    return {{"title", fmt::format("a new idea, number {}", cycle * kIdeas + n)},
            {"cause", "compute"},
            {"mechanism", fmt::format("for reason {}", cycle)},
            {"expected_saving", 0.05 + 0.9 * (cycle % 19) / 19.0},
            {"change", change}};
  }

  // One cycle: what is new is tested and refuted. How many were tested.
  int turn(int cycle) {
    Json answer{{"hypotheses", Json::array()}, {"nothing_because", ""}};
    for (int n = 0; n < kIdeas; ++n) answer["hypotheses"].push_back(idea(n, cycle));
    const auto taken =
        take_answer(context_, *context_.ledger->family("eval"), answer, {"agent", "claude:sonnet"});
    EXPECT_TRUE(taken) << taken.error().text;
    EXPECT_TRUE(taken->refused.empty()) << taken->refused.front().because;
    EXPECT_EQ(taken->outcome.drafts.empty() ? "" : say(taken->outcome.drafts), "");
    for (const model::Hypothesis& h : taken->outcome.fresh) {
      model::Experiment x;
      x.id = "x" + h.id.substr(1);
      x.hypothesis = h.id;
      x.family = "eval";
      x.campaign = "c1";
      model::Verdict verdict;
      verdict.hypothesis = h.id;
      verdict.experiment = x.id;
      verdict.kind = model::VerdictKind::kRefuted;
      verdict.reason = "it does less work";
      EXPECT_EQ(say({{"experiment.registered", "cycle", x.id, encode(x)},
                     {"verdict.recorded", "cycle", h.id, encode(verdict)}}),
                "");
    }
    return static_cast<int>(taken->outcome.fresh.size());
  }
};

TEST_F(RepeatsTest, WhatWasRefutedIsTestedOnceUntilItIsReopened) {
  EXPECT_EQ(turn(0), kIdeas);
  int tested = 0;
  for (int cycle = 1; cycle < kCycles / 2; ++cycle) tested += turn(cycle);
  EXPECT_EQ(tested, 0);
  const std::string first = context_.ledger->hypotheses("eval", "refuted")->front().hypothesis.id;
  ASSERT_EQ(say({{"hypothesis.reopened", "ada", first, {{"reason", "another machine"}}}}), "");
  for (int cycle = kCycles / 2; cycle < kCycles; ++cycle) tested += turn(cycle);
  EXPECT_EQ(tested, 1) << "the one that a person reopened, once";
  EXPECT_EQ(context_.ledger->hypotheses("eval", "")->size(), kIdeas + 1U);
  EXPECT_TRUE(context_.ledger->verify()->ok());
}

}  // namespace
}  // namespace amdahl::app
