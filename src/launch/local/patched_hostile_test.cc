// patched_hostile_test.cc: what the build of a model's patch leaves in its tree leads nobody who
// looks into the tree afterwards anywhere else.
#include <array>
#include <filesystem>
#include <fstream>

#include <fmt/core.h>

#include "launch/local/patched.h"
#include "launch/local/testing.h"
#include "os/bubblewrap.h"

namespace amdahl::launch::local {
namespace {

namespace fs = std::filesystem;
using model::NeverRuns;

class HostileBuildTest : public LocalTest {
 protected:
  void SetUp() override {
    if (!os::can_jail()) GTEST_SKIP() << "bubblewrap does not work here";
    write("repo/train.py", "old\n");
    write("repo/report.py", "one\nprint(AMDAHL_REPORT)\n");
    write("repo/lib/net.py", "x = 1\n");
    write("repo/tests/a.py", "assert 1\n");
    ASSERT_EQ(std::system(("cd '" + path("repo") +
                           "' && git init -q . && git add . && "
                           "git -c user.name=A -c user.email=a@b commit -qm more")
                              .c_str()),
              0);
    write("state/ledger.db", "all that is known\n");
    fs::create_directories(path("elsewhere"));
    spec_.repo = path("repo");
    plan_.workdir = path("repo");
    plan_.argv = {"cat", "train.py"};
    plan_.patch = "--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-old\n+new\n";
  }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name)) << text;
  }
  Patched build(const std::string& shell) {
    spec_.build = {"sh", "-c", shell};
    return make_patched(spec_, plan_, path("state/trees"), "", {true, true, ""});
  }

  model::Spec spec_;
  model::Plan plan_;
};

// The loop asks git what the build has changed, outside of the sandbox.
TEST_F(HostileBuildTest, GitIsLedToNoOtherRepository) {
  const std::string evil = "git init -q evil && git -C evil config core.fsmonitor \"touch '" +
                           path("elsewhere/ran") +
                           "'; false\" && git -C evil config core.worktree ../..";
  for (const std::string& leads :
       {std::string("rm .git && mv evil/.git .git"), std::string("echo 'gitdir: evil/.git' > .git"),
        std::string("rm .git && ln -s evil/.git .git"), std::string("rm .git")}) {
    SCOPED_TRACE(leads);
    const Patched made = build(evil + " && " + leads);
    EXPECT_EQ(made.never, NeverRuns::kFrozenChange) << (made.plan ? "" : made.plan.error().text);
    EXPECT_FALSE(os::exists(path("elsewhere/ran")));
  }
  const Patched honest = build("git status > /dev/null && git rev-parse HEAD > version");
  EXPECT_TRUE(honest.plan) << honest.plan.error().text;
}

TEST_F(HostileBuildTest, NewFilesChangeNeitherTestsNorHowGitReadsFiles) {
  struct Case {
    const char* build;
    bool sound;
  };
  for (const Case& c : {
           Case{"echo '* binary' > .gitattributes; sed -i s/print/pass/ report.py", false},
           Case{"echo '* binary' > lib/.gitattributes", false},
           Case{"echo 'collect_ignore = [1]' > tests/conftest.py", false},
           Case{"echo '[pytest]' > pytest.ini", false},
           Case{"echo 'import os' > lib/sitecustomize.py", false},
           Case{"mkdir -p out/dep/tests && touch out/dep/tests/conftest.py out/dep/setup.cfg",
                true},
           Case{"git init -q out && touch out/.gitattributes", true},
           Case{"touch lib/net.o lib/.gitignore", true},
       }) {
    SCOPED_TRACE(c.build);
    const Patched made = build(c.build);
    EXPECT_EQ(bool{made.plan}, c.sound) << (made.plan ? "" : made.plan.error().text);
    EXPECT_EQ(made.never == NeverRuns::kFrozenChange, !c.sound);
  }
  // The checkout's own is data beside the code.
  write("repo/tests/conftest.py", "");
  EXPECT_TRUE(build("true; # with it").plan);
}

TEST_F(HostileBuildTest, LinksOutOfTheTreeAreNotFollowed) {
  write("repo/lib/data/tokens", "1 2 3\n");
  const Patched planted = build("rm -r lib && ln -s '" + path("elsewhere") + "' lib");
  EXPECT_EQ(planted.never, NeverRuns::kFrozenChange);
  EXPECT_TRUE(fs::is_empty(path("elsewhere")));
  fs::remove_all(path("repo/lib/data"));
  // The plan names what is now a link: it stays in the checkout.
  plan_.argv = {"cat", path("repo/lib/net.py")};
  plan_.env["PYTHONPATH"] = path("repo/lib");
  const Patched led = build("rm -r lib && mkdir real && ln -s '" + path("state") + "' lib; ls '" +
                            path("repo") + "'");
  ASSERT_TRUE(led.plan) << led.plan.error().text;
  EXPECT_EQ(led.plan->env.at("PYTHONPATH"), path("repo/lib"));
  EXPECT_EQ(led.plan->argv[1], path("repo/lib/net.py"));
  plan_.argv = {"cat", "net.py"};
  plan_.workdir = path("repo/lib");
  plan_.env.clear();
  EXPECT_FALSE(build("rm -r lib && ln -s '" + path("state") + "' lib").plan);
}

}  // namespace
}  // namespace amdahl::launch::local
