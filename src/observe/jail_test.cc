#include "observe/jail.h"

#include <cstdlib>

#include "base/hash.h"
#include "base/text.h"
#include "observe/testing.h"

namespace amdahl::observe {
namespace {

class JailTest : public InFolder {
 protected:
  void SetUp() override {
    std::string why_not;
    if (!os::can_jail(&why_not)) GTEST_SKIP() << why_not;
  }
  // With the test's folder as state, whose "repo" it may read.
  RunOrder jailed(const std::string& script) const {
    RunOrder made = shell(script);
    made.plan.workdir = path("repo");
    made.jail.emplace();
    made.jail->hidden = {folder_};
    made.jail->readable = {path("repo")};
    return made;
  }
};

TEST_F(JailTest, ItSeesAndWritesWhatIsItsOwn) {
  write("repo/code", "code");
  write("ledger", "others");
  struct Case {
    const char* what;
    std::string script;
    bool works;
  };
  const std::string& top = folder_;
  for (const Case& c : {
           Case{"reads the code", "cat code", true},
           Case{"writes its outputs", "echo x > \"$AMDAHL_OUT/result\"", true},
           Case{"writes its state", "echo x > \"$AMDAHL_STATE/cache\"", true},
           Case{"finds what an earlier run left there", "cat \"$AMDAHL_STATE/cache\"", false},
           Case{"uses scratch", "echo x > /tmp/x && echo x > /dev/shm/x", true},
           Case{"finds scratch of an earlier run", "cat /tmp/x || cat /dev/shm/x", false},
           Case{"writes to the code", "echo x > code", false},
           Case{"writes beside it", "echo x > ../x && test -e " + top + "/repo/../ledger", false},
           Case{"reads others' results", "cat ../ledger", false},
           Case{"writes to the system", "echo x > /etc/amdahl-test", false},
           Case{"writes to its home", "echo x > \"$HOME/amdahl-test\"", false},
           Case{"mounts the system again",
                "mount -o remount,rw,bind / ; mount -o remount,rw,bind \"$PWD\"; "
                "echo x > code || echo x > /etc/amdahl-test",
                false},
           Case{"has rights that others have not", "grep -q 'CapEff:.*[1-9a-f]' /proc/self/status",
                false},
           Case{"sees disks and memory",
                "find /dev -type b | grep -q . || test -e /dev/mem -o -e /dev/kmsg", false},
           Case{"changes the kernel's settings",
                "test -w /proc/sys/kernel/core_pattern || test -w /proc/sysrq-trigger", false},
           Case{"reads passwords", "grep -q : /etc/shadow", false},
           Case{"sees other processes", "test -e /proc/" + std::to_string(::getpid()), false},
       }) {
    SCOPED_TRACE(c.what);
    const model::Receipt receipt = run(jailed(c.script));
    EXPECT_EQ(receipt.ending, model::Ending::kExited) << receipt.reason;
    EXPECT_EQ(receipt.code == 0, c.works) << receipt.stderr_tail;
    EXPECT_EQ(receipt.left_behind, 0);
  }
  EXPECT_EQ(*os::read_file(path("out/result")), "x\n");
  EXPECT_EQ(*os::read_file(path("repo/code")), "code");
}

// We can read what the job cannot: the other arm's result is not its own.
TEST_F(JailTest, ALinkToAnothersResultIsNoResult) {
  write("repo/code", "code");
  write("other/result", "42\n");
  write("other/all/part", "42\n");
  RunOrder order = jailed(
      "cd \"$AMDAHL_OUT\"; echo 42 > own; ln -s own latest; ln -s ../other/result one; "
      "mkdir all; ln -s ../../other/all/part all/part; ln -s ../other/all linked");
  order.outputs = {
      {"{out}/latest"}, {"{out}/one"}, {"{out}/all"}, {"{out}/linked"}, {"{out}/linked/part"}};
  const model::Receipt receipt = run(order);
  ASSERT_EQ(receipt.outputs.size(), 5U);
  EXPECT_EQ(*receipt.outputs[0].sha256, sha256_hex("42\n"));
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_EQ(receipt.outputs[i].sha256.sight(), model::Sight::kUnreadable)
        << receipt.outputs[i].path;
  }
}

TEST_F(JailTest, StateThatThePlanNamesIsKept) {
  write("repo/code", "code");
  RunOrder order = jailed("cat {state}/cache 2>/dev/null; echo x > {state}/cache");
  EXPECT_EQ(run(order).stdout_tail, "");
  EXPECT_EQ(run(order).stdout_tail, "x\n");
}

TEST_F(JailTest, KeysAreNotInherited) {
  write("repo/code", "code");
  const auto kept = without_keys({{"PATH", "/usr/bin"},
                                  {"OMP_NUM_THREADS", "2"},
                                  {"ANTHROPIC_API_KEY", "a"},
                                  {"HF_TOKEN", "b"},
                                  {"AMDAHL_LEDGER", "c"},
                                  {"SSH_AUTH_SOCK", "/run/x"},
                                  {"NOTE", "Bearer abcdefghijklmnopqrstuvwxyz012345"}});
  EXPECT_EQ(kept,
            (std::map<std::string, std::string>{{"PATH", "/usr/bin"}, {"OMP_NUM_THREADS", "2"}}));
  ::setenv("TEST_SERVICE_TOKEN", "s3cr3t", 1);
  EXPECT_EQ(run(jailed("echo \"<$TEST_SERVICE_TOKEN>\"")).stdout_tail, "<>\n");
  RunOrder named = jailed("test \"$GIVEN\" = s3cr3t");
  named.plan.env["GIVEN"] = "{env:TEST_SERVICE_TOKEN}";
  EXPECT_EQ(run(named).code, 0) << "what the spec names is given";
  ::unsetenv("TEST_SERVICE_TOKEN");
}

TEST_F(JailTest, TheNetworkIsThereOnlyIfAllowed) {
  write("repo/code", "code");
  const std::string count = "grep -c : /proc/net/dev";
  EXPECT_EQ(run(jailed(count)).stdout_tail, "1\n") << "loopback alone";
  RunOrder open = jailed(count);
  open.jail->network = true;
  EXPECT_EQ(run(open).stdout_tail, run(shell("mkdir -p repo; " + count)).stdout_tail);
}

TEST_F(JailTest, ItEndsWithAllThatItStarted) {
  write("repo/code", "code");
  const model::Receipt receipt = run(jailed("sleep 31416 & sleep 0.05; exit 3"));
  EXPECT_EQ(receipt.code, 3);
  EXPECT_LT(receipt.wall, std::chrono::seconds(30));
  RunOrder endless = jailed("sleep 31416");
  endless.time_limit = std::chrono::milliseconds(300);
  EXPECT_EQ(run(endless).ending, model::Ending::kTimeLimit);
}

}  // namespace
}  // namespace amdahl::observe
