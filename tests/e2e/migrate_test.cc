// migrate_test.cc: a ledger that an earlier version wrote, opened by this one.
#include <map>

#include <gtest/gtest.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

class Migrate : public testing::Test {
 protected:
  void SetUp() override {
    sandbox_.write("state/config.toml", "");
    const std::string packed = source_path("/tests/golden/ledger-5/ledger.db.gz");
    const Outcome unpacked =
        run({"sh", "-c", "gzip -dc " + packed + " > state/ledger.db"}, {}, sandbox_.path());
    ASSERT_EQ(unpacked.code, 0) << unpacked.err;
  }
  Sandbox sandbox_;
};

// But for no effect: its E is below 20 in both, which was enough then and closes nothing for ever.
TEST_F(Migrate, EveryVerdictOfSchemaFiveStands) {
  const std::map<std::string, std::string> expected{
      {"h-2c48209fe9", "promoted"}, {"h-e91f2390d2", "aborted"},  {"h-e58890b7a9", "reopened"},
      {"h-aac1688797", "refuted"},  {"h-68e28a3712", "invalid"},  {"h-9a1dc5c3d3", "parked"},
      {"h-30be157bd9", "parked"},   {"h-05c8f144ef", "promoted"}, {"h-358fe1dcf1", "live"},
      {"h-044f534dc5", "live"},
  };
  std::map<std::string, std::string> found;
  const Json list = json_of(sandbox_.amdahl({"ledger", "list", "--json"}));
  for (const Json& row : list.at("hypotheses")) {
    found[row.at("hypothesis").at("id")] = row.at("state");
  }
  EXPECT_EQ(found, expected);
  const Outcome verified = sandbox_.amdahl({"ledger", "verify"});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
}

TEST_F(Migrate, TheStackAndTheGateAreAsTheyWere) {
  const Json gate = json_of(sandbox_.amdahl({"gate", "list", "--json"}));
  std::map<std::string, std::string> states;
  for (const Json& row : gate.at("gate"))
    states[row.at("packet").at("hypothesis")] = row.at("state");
  EXPECT_EQ(states, (std::map<std::string, std::string>{{"h-2c48209fe9", "approved"},
                                                        {"h-05c8f144ef", "approved"},
                                                        {"h-358fe1dcf1", "pending"}}));
  // Only the patch is in the stack: the other promoted change was rolled back.
  EXPECT_EQ(sandbox_.amdahl({"gate", "rollback", "h-2c48209fe9", "--reason", "again"}).code, 1);
  const Outcome back = sandbox_.amdahl({"gate", "rollback", "h-05c8f144ef", "--reason", "slow"});
  EXPECT_EQ(back.code, 0) << back.err;
  const Outcome declined = sandbox_.amdahl({"gate", "reject", "h-358fe1dcf1", "--reason", "old"});
  EXPECT_EQ(declined.code, 0) << declined.err;
  const Outcome verified = sandbox_.amdahl({"ledger", "verify"});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
}

}  // namespace
}  // namespace amdahl::e2e
