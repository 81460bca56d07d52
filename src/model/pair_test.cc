#include "model/pair.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "model/codec.h"
#include "model/spec_digest.h"

namespace amdahl::model {
namespace {

TEST(Aim, IsOneWordInTheLedger) {
  const std::pair<Aim, const char*> kAims[] = {
      {{Purpose::kCompare}, "compare"},
      {{Purpose::kReplicate}, "replicate"},
      {{Purpose::kTopUp, "order"}, "top-up:order"},
      {{Purpose::kSame}, "same"},
      {{Purpose::kStack, "1f2e"}, "stack:1f2e"},
      {{Purpose::kProfile}, "profile"},
  };
  for (const auto& [aim, word] : kAims) {
    EXPECT_EQ(text_of(aim), word);
    EXPECT_EQ(aim_in(word), aim);
  }
  EXPECT_EQ(aim_in("fun"), std::nullopt);
}

TEST(Pair, HasALabelForPeople) {
  Pair run;
  run.index = 4;
  const std::pair<Aim, const char*> kLabels[] = {
      {{Purpose::kCompare}, "pair 4"},
      {{Purpose::kReplicate}, "fresh pair 4"},
      {{Purpose::kTopUp, "order"}, "targeted pair 4 (order)"},
      {{Purpose::kSame}, "A/A pair 4"},
      {{Purpose::kStack, "1f2e"}, "pair 4 of all changes"},
      {{Purpose::kRace, "h-1"}, "race pair 4"},
      {{Purpose::kProfile}, "profile 4"},
  };
  for (const auto& [aim, label] : kLabels) {
    run.aim = aim;
    EXPECT_EQ(label_of(run), label);
  }
}

TEST(SharedVariant, HasThePairOfItsLeaderWithItsOwnChange) {
  Pair leader;
  leader.family = "eval";
  leader.experiment = "x-1";
  leader.stratum = "small";
  leader.a.env["A"] = "1";
  leader.shared.push_back({"x-2", {Purpose::kReplicate}, 7, true, {}});
  leader.shared[0].change.env["B"] = "2";
  const Pair own = pair_of(leader.shared[0], leader);
  EXPECT_EQ(own.experiment, "x-2");
  EXPECT_EQ(own.aim.purpose, Purpose::kReplicate);
  EXPECT_EQ(own.index, 7);
  EXPECT_TRUE(own.variant_second);
  EXPECT_EQ(own.stratum, "small");
  EXPECT_EQ(own.a, leader.a);
  EXPECT_EQ(own.b, leader.shared[0].change);
  EXPECT_TRUE(own.shared.empty());
}

TEST(NeverRuns, OlderReceiptsSayItInTheirReason) {
  Receipt receipt;
  receipt.id = "r-1/B";
  receipt.family = "eval";
  receipt.ending = Ending::kNotStarted;
  receipt.reason = "the build failed: make: exit 2";
  EXPECT_EQ(why_never(receipt), NeverRuns::kBuildFailed);
  seal(receipt);
  const auto read = decode<Receipt>(encode(receipt));
  ASSERT_TRUE(read);
  EXPECT_TRUE(check_seal(*read)) << "what is read into it must not break its seal";
  receipt.reason = "no such file: ./job";
  EXPECT_EQ(why_never(receipt), NeverRuns::kNo);
  receipt.never_runs = NeverRuns::kPatchDoesNotApply;
  EXPECT_EQ(why_never(*decode<Receipt>(encode(receipt))), NeverRuns::kPatchDoesNotApply);
  receipt.never_runs = NeverRuns::kNo;
  receipt.ending = Ending::kExited;
  receipt.reason = "the build failed: said the job itself";
  EXPECT_EQ(why_never(receipt), NeverRuns::kNo);
}

TEST(SpecDigest, NamesTheFieldsThatChanged) {
  Spec spec;
  spec.family = "eval";
  spec.command = {"run"};
  const auto digests = field_digests(spec);
  EXPECT_EQ(changed_fields(digests, spec), std::vector<std::string>{});
  Spec other = spec;
  other.lower_is_better = false;
  other.metric = "throughput";
  EXPECT_EQ(changed_fields(digests, other),
            (std::vector<std::string>{"metric direction", "metric"}));
  EXPECT_EQ(changed_fields(field_digests(other), spec), changed_fields(digests, other));
  other = spec;
  other.command.push_back("--fast");
  EXPECT_EQ(changed_fields(digests, other), std::vector<std::string>{"command"});
}

}  // namespace
}  // namespace amdahl::model
