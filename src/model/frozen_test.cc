#include "model/frozen.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace amdahl::model {
namespace {

Spec spec_with(std::vector<std::string> paths, std::vector<std::string> deny) {
  Spec spec;
  spec.repo = "/home/ada/repo";
  spec.check = {"python3", "./tools/check.py", "/home/ada/repo/tools/other.py", "--fast"};
  spec.paths = std::move(paths);
  spec.deny = std::move(deny);
  return spec;
}

TEST(Frozen, WhatAPatchMayTouch) {
  struct Case {
    const char* path;
    bool any;     // Without `paths`.
    bool listed;  // With paths = ["src", "*.cu"].
  };
  const Spec any = spec_with({}, {"src/vendor", "*.lock"});
  const Spec listed = spec_with({"src/", "*.cu"}, {"src/vendor", "*.lock"});
  for (const Case& c : {
           Case{"src/a.py", true, true},
           Case{"src/deep/b.py", true, true},
           Case{"kernels/k.cu", true, true},
           Case{"srcs/a.py", true, false},
           Case{"train.py", true, false},
           Case{"src/vendor/x.py", false, false},
           Case{"src/vendors.py", true, true},
           Case{"uv.lock", false, false},
           Case{"tests/a.py", false, false},
           Case{"src/tests/a.py", false, false},
           Case{"src/test_a.py", false, false},
           Case{"src/a_test.cc", false, false},
           Case{"src/conftest.py", false, false},
           Case{".git/config", false, false},
           Case{".gitattributes", false, false},
           Case{".ci/run", false, false},
           Case{"Tests/a.py", false, false},
           Case{"src/tests.py", false, false},
           Case{"src/work_tests.cc", false, false},
           Case{"src/BatchTest.java", false, false},
           Case{"src/latest.py", true, true},
           Case{"src/contests/a.py", true, true},
           Case{"web/a.test.ts", false, false},
           Case{"pytest.ini", false, false},
           Case{"src/tox.ini", false, false},
           Case{"setup.cfg", false, false},
           Case{"tools/check.py", false, false},
           Case{"tools/other.py", false, false},
           Case{"../x", false, false},
           Case{"src/../../x", false, false},
           Case{"src/..", false, false},
           Case{"/etc/passwd", false, false},
       }) {
    SCOPED_TRACE(c.path);
    EXPECT_EQ(bool{may_touch(any, c.path)}, c.any);
    EXPECT_EQ(bool{may_touch(listed, c.path)}, c.listed);
  }
  EXPECT_NE(may_touch(listed, "train.py").error().text.find("train.py"), std::string::npos);
}

// However the command names them.
TEST(Frozen, FilesOfTheCheck) {
  Spec spec;
  spec.repo = "/home/ada/repo";
  struct Case {
    std::vector<std::string> check;
    const char* path;
    bool frozen;
  };
  for (const Case& c : std::vector<Case>{
           {{"sh", "-c", "cd jobs && python3 check.py"}, "jobs/check.py", true},
           {{"sh", "-c", "cd jobs && python3 check.py"}, "jobs/work.py", false},
           {{"bash", "-lc", "diff <(./jobs/run.sh) good.txt"}, "good.txt", true},
           {{"bash", "-lc", "diff <(./jobs/run.sh) good.txt"}, "jobs/run.sh", true},
           {{"python3", "-m", "jobs.check", "--fast"}, "jobs/check.py", true},
           {{"python3", "-m", "jobs.check"}, "jobs/check/__main__.py", true},
           {{"sh", "-c", "cd jobs; python3 -m check"}, "jobs/check.py", true},
           {{"python3", "jobs//../jobs/check.py"}, "jobs/check.py", true},
           {{"python3", "/home/ada/repo/./jobs/check.py"}, "jobs/check.py", true},
           {{"python3", "check.py"}, "jobs/check.py", false},
           {{"make", "-C", "jobs", "check"}, "jobs/work.c", false},
       }) {
    spec.check = c.check;
    EXPECT_EQ(is_frozen(spec, c.path), c.frozen) << c.check.back() << " " << c.path;
  }
}

TEST(Frozen, ThePlainPartOfAPattern) {
  struct Case {
    const char* pattern;
    const char* plain;
  };
  for (const Case& c : {
           Case{R"(embedded (\d+) images)", "embedded"},
           Case{R"(^loss: ([0-9.]+)$)", "loss:"},
           Case{R"(done in \d+ s, items=(\d+))", "s, items="},
           Case{R"((\d+))", ""},
           Case{R"(a|bcdef (\d+))", ""},
           Case{R"(abcdef? (\d+))", "abcde"},
           Case{R"([abcdef]{2,4} (\d+))", ""},
           Case{"", ""},
       }) {
    EXPECT_EQ(plain_part(c.pattern), c.plain) << c.pattern;
  }
}

TEST(Frozen, LinesThatReport) {
  Spec spec;
  const auto of_job = [&] {
    std::vector<std::string> words = frozen_words(spec);
    EXPECT_EQ(std::ranges::count(words, "add_test("), 1);
    EXPECT_EQ(std::ranges::count(words, "[tool.pytest"), 1);
    words.resize(words.size() - 5);  // Those that say which tests there are.
    return words;
  };
  EXPECT_EQ(of_job(), (std::vector<std::string>{"AMDAHL_"}));
  spec.metric = "tokens_per_second";
  spec.work_pattern = R"(embedded (\d+) images)";
  spec.quality = {{"recall", 0.01, true, ""}, {"loss", 0, false, R"(final loss (\S+))"}};
  EXPECT_EQ(of_job(), (std::vector<std::string>{"AMDAHL_", "tokens_per_second", "recall",
                                                "final loss", "embedded"}));
}

}  // namespace
}  // namespace amdahl::model
