// input_test.cc: bad input gets a clear error with place and cause, and loses nothing.
#include <gtest/gtest.h>
#include <sys/mount.h>

#include "harness.h"

namespace amdahl::e2e {
namespace {

struct Case {
  const char* name;
  std::vector<std::string> words;
  int code;
  const char* says;
};

TEST(Input, WrongWordsGetADirection) {
  Sandbox sandbox;
  const Case cases[] = {
      {"no such verb", {"scna"}, 2, "unknown command 'scna', did you mean 'scan'?"},
      {"no such option", {"cycle", "--wach"}, 2, "unknown option --wach, did you mean --watch?"},
      {"no ledger yet", {"status"}, 1, "type: amdahl init"},
      {"nothing to run", {"run"}, 2, "nothing to run; type: amdahl run -- CMD"},
      {"no such job", {"anatomy", "j-1"}, 1, "no job 'j-1'"},
      {"no divider", {"compare", "--", "true"}, 2, "':::' must stand between the two commands"},
      {"no such file", {"adopt", "--spec", "none.toml"}, 1, "none.toml"},
      {"no such config", {"scan", "--config", "none.toml"}, 1, "none.toml"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Outcome outcome = sandbox.amdahl(c.words);
    EXPECT_EQ(outcome.code, c.code) << outcome.err;
    EXPECT_NE(outcome.err.find(c.says), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(Input, GlobalOptionsMayComeFirst) {
  Sandbox sandbox;
  EXPECT_EQ(sandbox.amdahl({"--state", sandbox.path("elsewhere"), "init"}).code, 0);
  EXPECT_TRUE(sandbox.has("elsewhere/ledger.db"));
  EXPECT_EQ(sandbox.amdahl({"--json", "--state", sandbox.path("elsewhere"), "status"}).code, 0);
}

TEST(Input, BrokenTomlNamesFileLineAndField) {
  Sandbox sandbox;
  sandbox.write("broken.toml", "family = \"a\"\ncommand = [\"true\"\n");
  sandbox.write("typo.toml", "family = \"a\"\ncommand = [\"true\"]\naccelerator = 2\n");
  sandbox.write("type.toml", "family = \"a\"\ncommand = \"true\"\n");
  sandbox.write("bad-config.toml", "[compare]\ncap = \"many\"\n");
  EXPECT_NE(sandbox.amdahl({"adopt", "--spec", "broken.toml"}).err.find("broken.toml: line"),
            std::string::npos);
  const Outcome typo = sandbox.amdahl({"adopt", "--spec", "typo.toml"});
  EXPECT_EQ(typo.code, 2);
  EXPECT_NE(typo.err.find("did you mean"), std::string::npos) << typo.err;
  EXPECT_NE(sandbox.amdahl({"adopt", "--spec", "type.toml"}).err.find("command"),
            std::string::npos);
  const Outcome config = sandbox.amdahl({"scan", "--config", "bad-config.toml"});
  EXPECT_EQ(config.code, 2);
  EXPECT_NE(config.err.find("bad-config.toml: line 2: compare.cap must be a whole number"),
            std::string::npos)
      << config.err;
}

TEST(Input, TwoSpecsOfOneFamily) {
  Sandbox sandbox;
  sandbox.add_nap_job();
  ASSERT_EQ(sandbox.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  EXPECT_EQ(sandbox.amdahl({"adopt", "--spec", "job.toml"}).code, 0) << "the same one is fine";
  sandbox.write("other.toml", "family = \"nap\"\ncommand = [\"true\"]\nworkdir = \".\"\n");
  const Outcome second = sandbox.amdahl({"adopt", "--spec", "other.toml"});
  EXPECT_EQ(second.code, 1);
  EXPECT_NE(second.err.find("family 'nap' already has another spec"), std::string::npos);
  EXPECT_EQ(sandbox.amdahl({"adopt", "--spec", "other.toml", "--replace"}).code, 0);
}

TEST(Input, AForeignOrCorruptLedgerIsRefusedAndLeftAlone) {
  Sandbox sandbox;
  const std::string text = "this is no database, but somebody's diary, and long enough to be read";
  sandbox.write("state/ledger.db", text);
  const Outcome foreign = sandbox.amdahl({"status"});
  EXPECT_EQ(foreign.code, 2) << foreign.err;
  EXPECT_NE(foreign.err.find("is not a ledger"), std::string::npos) << foreign.err;
  EXPECT_EQ(sandbox.read("state/ledger.db"), text);

  Sandbox other;
  other.add_nap_job();
  ASSERT_EQ(other.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  std::string bytes = other.read("state/ledger.db");
  for (std::size_t i = 4096; i < bytes.size(); ++i) bytes[i] = 'x';
  other.write("state/ledger.db", bytes);
  std::remove(other.path("state/ledger.db-wal").c_str());
  const Outcome corrupt = other.amdahl({"ledger", "verify"});
  EXPECT_NE(corrupt.code, 0);
  EXPECT_FALSE(corrupt.err.empty());
}

TEST(Input, JobsThatMisbehaveAreReceiptsNotCrashes) {
  Sandbox sandbox;
  const Case cases[] = {
      {"exits 1", {"run", "--", "sh", "-c", "exit 3"}, 3, "exit 3"},
      {"missing binary", {"run", "--", "./no-such-program"}, 127, "no-such-program"},
      {"hangs", {"run", "--time-limit", "0.3", "--", "sleep", "60"}, 124, "time limit"},
      {"forks", {"run", "--", "sh", "-c", "sleep 60 & exit 0"}, 0, "exit 0"},
      {"garbage report",
       {"run", "--", "sh", "-c", "head -c 3000 /dev/urandom > $AMDAHL_REPORT"},
       0,
       "exit 0"},
      {"killed", {"run", "--", "sh", "-c", "kill -SEGV $$"}, 139, "SIGSEGV"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Outcome outcome = sandbox.amdahl(c.words);
    EXPECT_EQ(outcome.code, c.code) << outcome.err;
    EXPECT_NE(outcome.err.find(c.says), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(sandbox.list("state/usage").size(), std::size(cases)) << "each left a usage record";
  EXPECT_EQ(sandbox.amdahl({"scan"}).code, 0);
}

TEST(Input, AMissingMetricIsUnknownNeverZero) {
  Sandbox sandbox;
  sandbox.add_nap_job();
  sandbox.write("job.sh", "#!/bin/sh\necho fine > \"$AMDAHL_OUT/result\"\n", true);
  ASSERT_EQ(sandbox.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  ASSERT_EQ(sandbox.amdahl({"propose", "nap", "--env", "A=1", "--gain", "50"}).code, 0);
  const Outcome cycle = sandbox.amdahl({"cycle", "--watch"});
  EXPECT_EQ(cycle.code, 0) << cycle.err;
  EXPECT_NE(cycle.err.find("reports no work"), std::string::npos) << cycle.err;
  const Outcome list = sandbox.amdahl({"ledger", "list"});
  EXPECT_NE(list.out.find("aborted"), std::string::npos) << list.out;
}

TEST(Input, ARunOnAFullDiskSaysSo) {
  Sandbox sandbox;
  sandbox.write("small/x", "");
  if (::mount("tmpfs", sandbox.path("small").c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  }
  sandbox.write("fill.sh", "#!/bin/sh\nhead -c 200000 /dev/zero > \"$AMDAHL_OUT/big\"\n", true);
  const Outcome outcome =
      sandbox.amdahl({"run", "--state", sandbox.path("small/state"), "--", "./fill.sh"});
  ::umount(sandbox.path("small").c_str());
  EXPECT_NE(outcome.code, 0);
  EXPECT_NE(outcome.err.find("o space left"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace amdahl::e2e
