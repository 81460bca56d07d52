#include "model/canary.h"

#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "model/codec.h"

namespace amdahl::model {
namespace {

Canary odd_canary() {
  Canary canary;
  canary.hypothesis = "h-1";
  canary.family = "f";
  canary.seed = "abc";
  canary.number = 3;
  canary.one_in = 5;
  canary.wanted_runs = 30;
  canary.promised = 0.1 + 0.2;
  canary.sigma = 0.07;
  canary.past_runs = 50;
  canary.past_failed = 2;
  canary.straggles_from = 0.3;
  canary.past_stragglers = 1;
  canary.before.env = {{"A", "1"}};
  canary.after.env = {{"A", "1"}, {"B", std::nullopt}};
  canary.opened = Nanos{1'700'000'000'123'456'789};
  return canary;
}

CanaryResult odd_result() {
  CanaryResult result;
  result.hypothesis = "h-1";
  result.outcome = CanaryState::kRollbackProposed;
  result.because = "9 of 41 runs failed";
  result.comparison.pairs = 4;
  result.comparison.lower = -std::numeric_limits<double>::infinity();
  result.log_e_half = -0.5;
  result.runs = 41;
  result.failed = 9;
  result.held_back = 4;
  result.held_back_failed = 1;
  result.running = 2;
  result.lost = 3;
  result.usual_failures = 0.04;
  result.log_e_failing = 5.5;
  result.stragglers = 6;
  result.log_e_straggling = 1.5;
  return result;
}

TEST(CanaryCodec, ReadsBackWhatItWrote) {
  const Canary canary = odd_canary();
  const auto again = decode<Canary>(encode(canary));
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_TRUE(*again == canary);
  const CanaryResult result = odd_result();
  const auto result_again = decode<CanaryResult>(encode(result));
  ASSERT_TRUE(result_again) << result_again.error().text;
  EXPECT_TRUE(*result_again == result);
}

TEST(CanaryCodec, NamesWhatIsWrong) {
  EXPECT_EQ(decode_text<Canary>(R"({"hypothesis": "h", "family": "f", "number": 0})").error().text,
            "/seed: is missing");
  EXPECT_EQ(decode_text<CanaryResult>(R"({"hypothesis": "h", "outcome": "lost"})").error().text,
            "/outcome: unknown name \"lost\"");
}

TEST(CanaryCodec, ARunOutsideACanarySaysNothingOfOne) {
  Usage usage;
  usage.job = "j-1";
  usage.family = "f";
  EXPECT_FALSE(encode(usage).contains("canary"));
  usage.canary = {{"h-1", "h-2"}, "h-3", 17};
  EXPECT_EQ(encode(usage)["canary"].dump(),
            R"({"changes":["h-1","h-2"],"held_back":"h-3","slot":17})");
  EXPECT_TRUE(decode<Usage>(encode(usage))->canary == usage.canary);
}

}  // namespace
}  // namespace amdahl::model
