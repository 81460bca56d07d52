#include "model/observed.h"

#include <concepts>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "model/codec.h"
#include "model/receipt.h"

namespace amdahl::model {
namespace {

// What a check could do by mistake does not compile.
static_assert(!std::equality_comparable<Observed<std::string>>);
static_assert(!std::equality_comparable<Observed<double>>);
static_assert(!std::constructible_from<bool, Observed<bool>>);

TEST(Observed, WhatWasNotSeenIsNeverTheSame) {
  using Digest = Observed<std::string>;
  const Digest seen("ab");
  EXPECT_EQ(same(seen, Digest("ab")), true);
  EXPECT_EQ(same(seen, Digest("cd")), false);
  for (const Digest& other : {Digest(), Digest(""), Digest::absent("nothing matches x"),
                              Digest::unreadable("x: permission denied")}) {
    EXPECT_EQ(same(seen, other), std::nullopt);
    EXPECT_EQ(same(other, seen), std::nullopt);
    EXPECT_EQ(same(other, other), std::nullopt);
    EXPECT_FALSE(other == std::string());
  }
}

TEST(Observed, SaysWhyThroughTheRecord) {
  Receipt receipt;
  receipt.id = "r-1/A";
  receipt.family = "f";
  receipt.input_fingerprint = Observed<std::string>::absent("nothing matches x");
  receipt.outputs = {{"{out}/y", Observed<std::string>::unreadable("no right to read"), 0, false}};
  const Result<Receipt> again = decode<Receipt>(encode(receipt));
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_TRUE(*again == receipt);
  EXPECT_EQ(again->input_fingerprint.sight(), Sight::kAbsent);
  EXPECT_EQ(again->input_fingerprint.why(), "nothing matches x");
  EXPECT_EQ(again->outputs[0].sha256.sight(), Sight::kUnreadable);
}

// A receipt of before, with an output that was missing: it is read, its seal holds, and what was
// missing is not a digest.
TEST(Observed, ReceiptsOfBeforeAreReadAndKeepTheirSeal) {
  Receipt receipt;
  receipt.id = "r-1/A";
  receipt.family = "f";
  receipt.outputs = {{"{out}/y", "", 0, false}};
  seal(receipt);
  const Json json = encode(receipt);
  EXPECT_EQ(json.at("input_fingerprint"), "");
  EXPECT_EQ(json.at("work"), nullptr);
  EXPECT_EQ(json.at("outputs").at(0), (Json{{"path", "{out}/y"}, {"sha256", ""}, {"bytes", 0}}));
  EXPECT_FALSE(json.contains("started_monotonic_ns"));
  const Result<Receipt> again = decode<Receipt>(json);
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_TRUE(check_seal(*again));
  EXPECT_FALSE(again->outputs[0].sha256);
}

// A fact of a ledger of before: bare numbers, "nan" where nobody looked, and empty digests.
TEST(Observed, FactsOfBeforeAreRead) {
  const Result<PairFact> fact = decode_text<PairFact>(
      R"({"reservation": "r-1", "ran_variant_second": true,
          "a": {"work": 3, "output_digest": "", "foreign_cpu_cores": "nan", "host": "n1"},
          "b": {"work": null, "output_digest": "0d", "foreign_cpu_cores": 0.5}})");
  ASSERT_TRUE(fact) << fact.error().text;
  EXPECT_EQ(fact->ran_variant_second, true);
  EXPECT_EQ(fact->a.work, 3);
  EXPECT_FALSE(fact->b.work);
  EXPECT_FALSE(fact->a.output_digest);
  EXPECT_EQ(fact->b.output_digest, "0d");
  EXPECT_EQ(fact->b.foreign_cpu_cores, 0.5);
  EXPECT_FALSE(fact->a.steal_share) << "not 0, for no one looked";
}

TEST(Fault, IsThatOfTheArmThatGaveNoNumber) {
  PairFact pair;
  EXPECT_EQ(fault_of(pair), Fault::kNobody);
  pair.voided = true;
  EXPECT_EQ(fault_of(pair), Fault::kUnknown);
  pair.b.failed = true;
  EXPECT_EQ(fault_of(pair), Fault::kB);
  pair.a.failed = true;
  EXPECT_EQ(fault_of(pair), Fault::kBoth);
  pair.b.failed = false;
  EXPECT_EQ(fault_of(pair), Fault::kA);
}

}  // namespace
}  // namespace amdahl::model
