#include "app/work.h"

#include <thread>

#include <gtest/gtest.h>

#include "app/test_kit.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

using std::chrono::seconds;

class WorkFolderTest : public ContextTest {
 protected:
  WorkFolderTest() { clock_.advance(seconds(1)); }  // A machine that is up.
  bool leave(Nanos& offered, std::int64_t fence = 7) {
    return folder_of_work_.leave(piece_, fence, offered);
  }
  WorkFolder folder_of_work_{context_};
  Piece piece_{Piece::Kind::kCollect, "r-1", {.state = launch::RunState::kFinished}};
};

TEST_F(WorkFolderTest, WithoutAnIdleHelperTheCycleDoesIt) {
  Nanos offered{};
  EXPECT_FALSE(leave(offered));
  ASSERT_TRUE(folder_of_work_.sign_in("m1:1", false));
  EXPECT_FALSE(leave(offered));
  EXPECT_TRUE(folder_of_work_.offered().empty());
  ASSERT_TRUE(folder_of_work_.sign_in("m1:1", true));
  EXPECT_TRUE(leave(offered));
  EXPECT_EQ(folder_of_work_.offered().size(), 1U);
  clock_.advance(seconds(21));  // The helper died.
  EXPECT_FALSE(leave(offered));
}

TEST_F(WorkFolderTest, WhatNobodyTakesTheCycleDoes) {
  ASSERT_TRUE(folder_of_work_.sign_in("m1:1", true));
  Nanos offered{};
  EXPECT_TRUE(leave(offered));
  clock_.advance(seconds(9));
  EXPECT_TRUE(leave(offered));
  clock_.advance(seconds(2));
  EXPECT_FALSE(leave(offered)) << "not taken for 11 seconds";
  Nanos of_another{};
  EXPECT_FALSE(leave(of_another, 8)) << "the cycle before offered it in vain";
}

TEST_F(WorkFolderTest, AClaimIsOneHelpersUntilTheLedgersClockEndsIt) {
  ASSERT_TRUE(folder_of_work_.sign_in("m1:1", true));
  Nanos offered{};
  ASSERT_TRUE(leave(offered));
  constexpr int kHelpers = 8;
  std::vector<std::optional<WorkClaim>> claims(kHelpers);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kHelpers; ++i) {
    threads.emplace_back(
        [&, i] { claims[i] = folder_of_work_.claim(piece_, "m" + std::to_string(i)); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::ranges::count_if(claims, [](const auto& c) { return c.has_value(); }), 1);
  EXPECT_TRUE(folder_of_work_.is_claimed("r-1"));
  clock_.advance(seconds(15));
  const auto first = std::ranges::find_if(claims, [](const auto& c) { return c.has_value(); });
  ASSERT_TRUE(folder_of_work_.renew(**first, "m"));
  clock_.advance(seconds(15));
  EXPECT_TRUE(leave(offered)) << "renewed";
  EXPECT_FALSE(folder_of_work_.claim(piece_, "late"));
  clock_.advance(seconds(6));
  EXPECT_FALSE(folder_of_work_.is_claimed("r-1"));
  const auto second = folder_of_work_.claim(piece_, "other");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->number, 2);
  // A renewal by the one that was late holds nothing.
  folder_of_work_.give_back(*second);
  ASSERT_TRUE(folder_of_work_.renew(**first, "m"));
  EXPECT_FALSE(folder_of_work_.is_claimed("r-1"));
  EXPECT_TRUE(folder_of_work_.claim(piece_, "third"));
  clock_.advance(seconds(21));
  EXPECT_FALSE(folder_of_work_.claim(piece_, "fourth")) << "too many died of it";
}

TEST_F(WorkFolderTest, TimesOfAWrongClockHoldNothing) {
  ASSERT_TRUE(os::make_dirs(context_.path("work/helpers")));
  ASSERT_TRUE(os::write_file(context_.path("work/helpers/ghost"),
                             R"({"until_ns": 9000000000000000000, "idle": true})"));
  EXPECT_FALSE(folder_of_work_.has_idle_helper());
  for (const char* text : {"", "[]", "{\"until_ns\": \"x\"}", "{\"idle\": true}"}) {
    ASSERT_TRUE(os::write_file(context_.path("work/helpers/ghost"), text));
    EXPECT_FALSE(folder_of_work_.has_idle_helper()) << text;
  }
}

TEST_F(WorkFolderTest, ABuildIsTakenWhereItsPlaceIs) {
  EXPECT_FALSE(folder_of_work_.has_helper());
  ASSERT_TRUE(folder_of_work_.sign_in("m1:1", false));
  EXPECT_TRUE(folder_of_work_.has_helper());
  EXPECT_FALSE(folder_of_work_.has_idle_helper());
  ASSERT_TRUE(folder_of_work_.sign_in("m1:1", true));
  const Piece build{Piece::Kind::kBuild, "r-build-x-1"};
  Nanos offered{};
  EXPECT_TRUE(folder_of_work_.leave(build, 7, offered));
  ASSERT_EQ(folder_of_work_.offered().size(), 1U);
  EXPECT_EQ(folder_of_work_.offered()[0].kind, Piece::Kind::kBuild);
  context_.hardware = "another";
  EXPECT_TRUE(folder_of_work_.offered().empty());
}

TEST_F(WorkFolderTest, WhatIsDoneOrOfAnotherPlaceIsNotTaken) {
  ASSERT_TRUE(folder_of_work_.sign_in("m1:1", true));
  piece_.status.charge = launch::Charge{seconds(3), 2, 4};
  Nanos offered{};
  ASSERT_TRUE(leave(offered));
  ASSERT_EQ(folder_of_work_.offered().size(), 1U);
  EXPECT_EQ(folder_of_work_.offered()[0].status.charge->wall, seconds(3));
  context_.hardware = "another";
  EXPECT_TRUE(folder_of_work_.offered().empty());
  context_.hardware = "cpu: test";
  folder_of_work_.mark_done(piece_);
  EXPECT_TRUE(folder_of_work_.offered().empty());
  EXPECT_FALSE(folder_of_work_.claim(piece_, "m"));
  folder_of_work_.keep_only({"r-2"});
  EXPECT_FALSE(os::exists(context_.path("work/pieces/r-1")));
}

}  // namespace
}  // namespace amdahl::app
