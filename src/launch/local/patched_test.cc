#include "launch/local/patched.h"

#include <cstdlib>

#include <fmt/core.h>

#include "launch/local/testing.h"
#include "os/bubblewrap.h"

namespace amdahl::launch::local {
namespace {

class PatchedTest : public LocalTest {
 protected:
  void SetUp() override {
    for (const char* file : {"repo/train.py", "repo/lib/net.py", "repo/conf/a.toml"}) {
      ASSERT_TRUE(os::make_dirs(std::filesystem::path(path(file)).parent_path()));
      ASSERT_TRUE(os::write_file(path(file), "old\n"));
    }
    const std::string git = "git -c user.name=Ada -c user.email=ada@example.org ";
    ASSERT_EQ(std::system(("cd '" + path("repo") + "' && git init -q . && git add . && " + git +
                           "commit -qm 'the job'")
                              .c_str()),
              0);
    ASSERT_TRUE(os::make_dirs(path("repo/out")));  // Not in the commit.
    ASSERT_TRUE(os::make_dirs(path("data")));
    spec_.repo = path("repo");
    plan_.patch = "--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-old\n+new\n";
  }

  model::Spec spec_;
  model::Plan plan_;
};

TEST_F(PatchedTest, AScriptNamedByItsFullPathIsThePatchedOne) {
  plan_.workdir = path("data");
  plan_.argv = {"python3",        path("repo/train.py"), "--conf=" + path("repo/conf/a.toml"),
                "--out",          path("repo/out"),      "--conf-dir",
                path("repo/conf")};
  plan_.env = {{"PYTHONPATH", path("repo/lib") + ":/usr/share/python"}, {"ROOT", path("repo")}};
  const auto moved = in_patched_tree(spec_, plan_, path("trees"));
  ASSERT_TRUE(moved) << moved.error().text;
  EXPECT_EQ(*os::read_file(moved->argv[1]), "new\n");
  const std::string tree = std::filesystem::path(moved->argv[1]).parent_path();
  EXPECT_TRUE(tree.starts_with(path("trees/"))) << tree;
  EXPECT_EQ(moved->argv[2], "--conf=" + tree + "/conf/a.toml");
  EXPECT_EQ(moved->argv[4], path("repo/out")) << "results stay where they are asked for";
  EXPECT_EQ(moved->argv[6], path("repo/conf")) << "so do folders";
  EXPECT_EQ(moved->env.at("PYTHONPATH"), tree + "/lib:/usr/share/python");
  EXPECT_EQ(moved->env.at("ROOT"), path("repo"));
  EXPECT_EQ(moved->workdir, path("data"));
  EXPECT_EQ(*os::read_file(path("repo/train.py")), "old\n") << "the checkout is left alone";
}

TEST_F(PatchedTest, DataBesideTheCodeAreWhereTheJobExpectsThem) {
  ASSERT_TRUE(os::make_dirs(path("repo/lib/data/train")));
  ASSERT_TRUE(os::write_file(path("repo/lib/data/train/a.bin"), "tokens"));
  ASSERT_TRUE(os::write_file(path("repo/model.pt"), "before"));
  ASSERT_TRUE(os::make_dirs(path("repo/lib/__pycache__")));
  ASSERT_TRUE(os::write_file(path("repo/lib/__pycache__/net.pyc"), "stale"));
  ASSERT_TRUE(os::write_file(path("repo/train.o"), "of the code before"));
  spec_.build = {"sh", "-c", "echo built > train.o"};
  plan_.workdir = path("repo");
  plan_.argv = {"python3", "train.py"};
  const auto moved = in_patched_tree(spec_, plan_, path("repo/state/trees"));
  ASSERT_TRUE(moved) << moved.error().text;
  const std::string& tree = moved->workdir;
  EXPECT_EQ(*os::read_file(tree + "/lib/data/train/a.bin"), "tokens");
  EXPECT_EQ(*os::read_file(tree + "/model.pt"), "before");
  EXPECT_FALSE(os::exists(tree + "/lib/__pycache__"));
  EXPECT_EQ(*os::read_file(tree + "/train.o"), "built\n");
  EXPECT_FALSE(os::exists(tree + "/state")) << "no link to what holds the tree";
}

TEST_F(PatchedTest, ATreeIsBuiltInOneRunAndCheckedInAnother) {
  spec_.build = {"sh", "-c", "echo built >> log"};
  spec_.check = {"sh", "-c", "echo checked >> log"};
  plan_.workdir = path("repo");
  plan_.argv = {"python3", "train.py"};
  const std::string tree = *tree_path(spec_, plan_, path("trees"), "", {});
  EXPECT_FALSE(is_built(tree));
  ASSERT_TRUE(build_tree(spec_, plan_, path("trees"), "").plan);
  EXPECT_TRUE(is_built(tree));
  EXPECT_EQ(*os::read_file(tree + "/log"), "built\n");
  ASSERT_TRUE(build_tree(spec_, plan_, path("trees"), "").plan) << "it is there";
  const Patched ready = make_patched(spec_, plan_, path("trees"), "");
  ASSERT_TRUE(ready.plan) << ready.plan.error().text;
  EXPECT_EQ(ready.tree, tree);
  EXPECT_EQ(*os::read_file(tree + "/log"), "built\nchecked\n");
  ASSERT_TRUE(make_patched(spec_, plan_, path("trees"), "").plan);
  EXPECT_EQ(*os::read_file(tree + "/log"), "built\nchecked\n");
}

TEST_F(PatchedTest, ABuildThatFailsIsNotTriedAgain) {
  spec_.build = {"sh", "-c", "echo x >> '" + path("tries") + "'; exit 3"};
  plan_.workdir = path("repo");
  plan_.argv = {"python3", "train.py"};
  EXPECT_EQ(build_tree(spec_, plan_, path("trees"), "").never, model::NeverRuns::kBuildFailed);
  EXPECT_TRUE(is_built(*tree_path(spec_, plan_, path("trees"), "", {})));
  EXPECT_EQ(make_patched(spec_, plan_, path("trees"), "").never, model::NeverRuns::kBuildFailed);
  EXPECT_EQ(*os::read_file(path("tries")), "x\n");
}

TEST_F(PatchedTest, APatchThatCannotReachTheCommandIsSaid) {
  plan_.workdir = path("data");
  plan_.argv = {"python3", "train.py"};
  const auto moved = in_patched_tree(spec_, plan_, path("trees"));
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().text,
            "the patch does not apply: it does not affect the job: neither the workdir " +
                path("data") + " nor any file of the command is inside the repo " + path("repo"));
}

TEST_F(PatchedTest, AScriptGivenAsTextThatNamesTheCheckoutIsRefused) {
  plan_.workdir = path("repo");
  plan_.argv = {"sh", "-c", "cd '" + path("repo") + "' && cat train.py"};
  EXPECT_EQ(in_patched_tree(spec_, plan_, path("trees")).error().text,
            "the patch does not apply: it does not affect the job: \"" + clip(plan_.argv[2], 80) +
                "\" contains the path of the checkout " + path("repo") +
                "; use paths relative to the spec's workdir");
  plan_.argv[2] = "cat train.py; ls '" + path("repo") + "-data'";
  EXPECT_TRUE(in_patched_tree(spec_, plan_, path("trees"))) << "that is another folder";
}

TEST_F(PatchedTest, ASearchPathThatTheJobInheritsIsTheWorktreesToo) {
  plan_.workdir = path("data");
  plan_.argv = {"python3", "-m", "net"};
  const char* before = std::getenv("PYTHONPATH");
  const std::string kept = before ? before : "";
  ::setenv("PYTHONPATH", path("repo/lib").c_str(), 1);
  const auto moved = in_patched_tree(spec_, plan_, path("trees"));
  before ? ::setenv("PYTHONPATH", kept.c_str(), 1) : ::unsetenv("PYTHONPATH");
  ASSERT_TRUE(moved) << moved.error().text;
  EXPECT_TRUE(moved->env.at("PYTHONPATH").starts_with(path("trees/")));
}

TEST_F(PatchedTest, WhatDidNotBuildIsNotBuiltAgain) {
  plan_.workdir = path("repo");
  plan_.argv = {"cat", "train.py"};
  spec_.build = {"sh", "-c", "echo x >> " + path("builds") + "; sleep 0.1; exit 7"};
  const Patched first = make_patched(spec_, plan_, path("trees"), "");
  ASSERT_FALSE(first.plan);
  EXPECT_TRUE(first.plan.error().text.starts_with("the build failed: ")) << first.plan.error().text;
  EXPECT_GE(first.wall, std::chrono::milliseconds(100)) << "it was paid for";
  EXPECT_GT(first.cpu, Nanos{0});
  const Patched again = make_patched(spec_, plan_, path("trees"), "");
  ASSERT_FALSE(again.plan);
  EXPECT_EQ(again.plan.error().text, first.plan.error().text);
  EXPECT_EQ(again.never, model::NeverRuns::kBuildFailed);
  EXPECT_LT(again.wall, std::chrono::milliseconds(100));
  EXPECT_EQ(*os::read_file(path("builds")), "x\n");
  // Another build of the same patch is another try.
  spec_.build = {"sh", "-c", "true"};
  EXPECT_TRUE(make_patched(spec_, plan_, path("trees"), "").plan);
}

TEST_F(PatchedTest, TheCheckMustPassBeforeAnythingRuns) {
  plan_.workdir = path("repo");
  plan_.argv = {"cat", "train.py"};
  spec_.build = {"sh", "-c", "echo built > built"};
  spec_.check = {"sh", "-c", "test -e built && grep -q $WANT train.py"};
  spec_.env = {{"WANT", "old"}};
  const Patched failed = make_patched(spec_, plan_, path("trees"), "");
  ASSERT_FALSE(failed.plan);
  EXPECT_EQ(failed.never, model::NeverRuns::kCheckFailed);
  model::Plan plain = plan_;
  plain.patch.clear();
  EXPECT_TRUE(make_patched(spec_, plain, path("trees"), "").plan);
  spec_.env = {{"WANT", "new"}};
  spec_.check.emplace_back("again");  // Another check is another tree.
  EXPECT_TRUE(make_patched(spec_, plan_, path("trees"), "").plan);
}

TEST_F(PatchedTest, WhatIsFrozenIsComparedWithTheCommit) {
  ASSERT_TRUE(os::write_file(path("repo/report.py"), "one\nprint(AMDAHL_REPORT)\n"));
  ASSERT_TRUE(os::make_dirs(path("repo/tests")));
  ASSERT_TRUE(os::write_file(path("repo/tests/a.py"), "assert 1\n"));
  ASSERT_EQ(std::system(("cd '" + path("repo") +
                         "' && git add . && git -c user.name=A -c user.email=a@b commit -qm more")
                            .c_str()),
            0);
  plan_.workdir = path("repo");
  plan_.argv = {"cat", "train.py"};
  const auto edit = [](const char* file, const char* from, const char* to) {
    return fmt::format("--- a/{}\n+++ b/{}\n@@ -1 +1 @@\n-{}\n+{}\n", file, file, from, to);
  };
  struct Case {
    const char* what;
    std::string patch;
    std::string build;  // A shell's.
    std::string accepted;
    bool sound;
  };
  const std::string test = edit("tests/a.py", "assert 1", "pass");
  for (const Case& c : {
           Case{"the job's code", edit("train.py", "old", "new"), "true", "", true},
           Case{"beside a line that reports",
                "--- a/report.py\n+++ b/report.py\n@@ -1,2 +1,2 @@\n-one\n+two\n "
                "print(AMDAHL_REPORT)\n",
                "true", "", true},
           Case{"a test", test, "true", "", false},
           Case{"a test, approved by a person", test, "true", test, true},
           Case{"a line that reports", edit("train.py", "old", "AMDAHL_REPORT = 1"), "true", "",
                false},
           Case{"the build edits a test", edit("train.py", "old", "1"), "echo > tests/a.py", "",
                false},
           Case{"the build edits the report", edit("train.py", "old", "2"),
                "sed -i s/print/pass/ report.py", "", false},
       }) {
    SCOPED_TRACE(c.what);
    plan_.patch = c.patch;
    spec_.build = {"sh", "-c", c.build, c.what};
    const Patched made = make_patched(spec_, plan_, path("trees"), "", {false, true, c.accepted});
    EXPECT_EQ(bool{made.plan}, c.sound) << (made.plan ? "" : made.plan.error().text);
    EXPECT_EQ(made.never == model::NeverRuns::kFrozenChange, !c.sound);
    EXPECT_TRUE(make_patched(spec_, plan_, path("trees"), "").plan) << "a person may";
  }
}

TEST_F(PatchedTest, InTheSandboxABuildWritesToItsTreeAlone) {
  if (!os::can_jail()) GTEST_SKIP() << "bubblewrap does not work here";
  plan_.workdir = path("repo");
  plan_.argv = {"cat", "train.py"};
  spec_.build = {"sh", "-c", "echo built > built"};
  const Patched made = make_patched(spec_, plan_, path("state/trees"), "", {true, true, ""});
  ASSERT_TRUE(made.plan) << made.plan.error().text;
  EXPECT_TRUE(os::exists(made.tree + "/built"));
  for (const std::string& target : {path("repo/x"), std::string("/etc/x")}) {
    spec_.build = {"sh", "-c", "echo x > '" + target + "'"};
    const Patched outside = make_patched(spec_, plan_, path("state/trees"), "", {true, true, ""});
    EXPECT_EQ(outside.never, model::NeverRuns::kBuildFailed) << target;
    EXPECT_FALSE(os::exists(target));
  }
  // What is hidden is empty, and what is written there is gone.
  spec_.build = {"sh", "-c", "echo x > '" + path("state/x") + "'"};
  EXPECT_TRUE(make_patched(spec_, plan_, path("state/trees"), "", {true, true, ""}).plan);
  EXPECT_FALSE(os::exists(path("state/x")));
}

}  // namespace
}  // namespace amdahl::launch::local
