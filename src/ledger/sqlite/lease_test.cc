#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger/sqlite/test_kit.h"

namespace amdahl::ledger::sqlite {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class LeaseTest : public LedgerTest {
 protected:
  const std::string me_ = fmt::format("pid {}", ::getpid());
};

TEST_F(LeaseTest, OneLivingHolderAtATime) {
  const auto first = ledger_->take_lease(me_, "node7", minutes(1));
  ASSERT_TRUE(first) << first.error().text;
  clock_.advance(seconds(20));
  ASSERT_TRUE(ledger_->renew_lease(first->token, minutes(1)));
  clock_.advance(seconds(30));
  const auto second = ledger_->take_lease("pid 1", "node8", minutes(1));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, Error::Kind::kBusy);
  EXPECT_EQ(second.error().text, "another cycle holds the lease: " + me_ +
                                     " on node7, taken 50 s ago, renewed 30 s ago");
  EXPECT_EQ((*ledger_->lease())->holder, me_);

  ASSERT_TRUE(ledger_->release_lease(first->token));
  EXPECT_FALSE(*ledger_->lease());
  const auto third = ledger_->take_lease("pid 1", "node8", minutes(1));
  ASSERT_TRUE(third);
  EXPECT_GT(third->token, first->token);
}

TEST_F(LeaseTest, AnExpiredLeaseIsTakenOverAndTheOldHolderFencedOff) {
  const auto old = *ledger_->take_lease(me_, "node7", minutes(1));
  clock_.advance(minutes(2));
  const std::vector<Draft> note = {draft("cycle.noted", "c", {})};
  EXPECT_TRUE(ledger_->append(note, old.token));  // Late, but nobody took it.
  const auto taken = ledger_->take_lease("pid 1", "node8", minutes(1));
  ASSERT_TRUE(taken) << taken.error().text;

  const auto late = ledger_->append(note, old.token);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, Error::Kind::kBusy);
  EXPECT_EQ(late.error().text,
            "the lease was lost: another cycle holds the lease: pid 1 on node8, taken 0 s ago,"
            " renewed 0 s ago");
  EXPECT_EQ((*ledger_->events("", 0, 9)).size(), 1u);
  EXPECT_EQ(ledger_->renew_lease(old.token, minutes(1)).error().kind, Error::Kind::kBusy);
  EXPECT_TRUE(ledger_->release_lease(old.token));  // Does not take it from the new holder.
  EXPECT_EQ((*ledger_->lease())->holder, "pid 1");

  EXPECT_TRUE(ledger_->append(note, taken->token));
  EXPECT_TRUE(ledger_->append(note, 0));  // A person at the gate needs no lease.
}

TEST_F(LeaseTest, ADeadHolderOfThisHostIsTakenOverAtOnce) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const std::string dead = fmt::format("pid {}", child);
  ASSERT_TRUE(ledger_->take_lease(dead, "node7", minutes(10)));
  // From another host nobody can know.
  EXPECT_EQ(ledger_->take_lease(me_, "node8", minutes(1)).error().kind, Error::Kind::kBusy);
  EXPECT_TRUE(ledger_->take_lease(me_, "node7", minutes(1)));
}

TEST_F(LeaseTest, TheTokenOnlyGrows) {
  EXPECT_EQ(ledger_->append(std::vector{draft("cycle.noted", "c", {})}, 7).error().text,
            "the lease was never taken");
  const auto lease = *ledger_->take_lease(me_, "node7", minutes(1));
  EXPECT_EQ(raw_lease("UPDATE {} SET token = 0"), "the token of a lease only grows");
  EXPECT_EQ(raw_lease("DELETE FROM {}"), "the token of a lease is never forgotten");
  ASSERT_TRUE(ledger_->release_lease(lease.token));
  EXPECT_EQ(ledger_->renew_lease(lease.token, minutes(1)).error().text,
            "the lease was released: take it again");
  ASSERT_TRUE(ledger_->rebuild());
  EXPECT_GT(ledger_->take_lease(me_, "node7", minutes(1))->token, lease.token);
}

}  // namespace
}  // namespace amdahl::ledger::sqlite
