// keys_test.cc: one effect has one key, what runs is what was written, and secrets stay secret.
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

namespace fs = std::filesystem;

unsigned mode_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 0777U : 0U;
}

class KeysTest : public testing::Test {
 protected:
  KeysTest() {
    sandbox_.write("repo/x.txt", "a\nb\nc\nd\ne\n");
    sandbox_.write("repo/data/f", "q\n");
    sandbox_.write("repo/.gitignore", ".out-*\n");  // What run() keeps there.
    git({"init", "-q", "."});
    git({"config", "user.email", "ada@example.org"});
    git({"config", "user.name", "Ada"});
    commit("first");
    sandbox_.write("job.toml", R"(family = "keys"
command = ["sh", "-c", "env > $AMDAHL_OUT/env; echo $* > $AMDAHL_OUT/args", "job", "--batch", "8"]
repo = "repo"
workdir = "repo"
time_limit_s = 10
[work]
fixed = 1
[knobs.batch_size]
arg = "--batch"
aliases = ["-b"]
value = 8
)");
    sandbox_.write("config.toml",
                   "slots = [0, 1]\n[campaign]\nk = 5\nalpha = 0.5\n[loop]\nqueue = 0\n");
    EXPECT_EQ(sandbox_.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  }

  std::string git(const std::vector<std::string>& words) const {
    std::vector<std::string> argv = {"git"};
    argv.insert(argv.end(), words.begin(), words.end());
    const Outcome done = run(argv, {}, sandbox_.path("repo"));
    EXPECT_EQ(done.code, 0) << done.err;
    return done.out;
  }
  void commit(const std::string& why) const {
    git({"add", "."});
    git({"commit", "-q", "-m", why});
  }

  // The key it gets, or "held" if the ledger holds it, or what the program complains of.
  std::string propose(std::vector<std::string> words) const {
    words.insert(words.begin(), {"propose", "keys", "--gain", "10", "--json"});
    const Outcome done = sandbox_.amdahl(words);
    if (done.code == 0) return json_of(done).at("key").get<std::string>();
    return done.err.find("is this idea") != done.err.npos ? "held" : done.err;
  }

  Sandbox sandbox_;
};

TEST_F(KeysTest, OneEffectIsProposedOnceAndOtherEffectsAreNot) {
  const std::string data = sandbox_.path("repo/data");
  const std::vector<std::vector<std::vector<std::string>>> groups = {
      {{"--env", "PYTHON_VERSION=3.10"}},
      {{"--env", "PYTHON_VERSION=3.1"}},
      {{"--env", "COMMIT=1234e5"}},
      {{"--env", "ZIP=007"}},
      {{"--env", "ZIP=7"}},
      {{"--arg=--batch=32"}, {"--arg=-b=32"}, {"--arg=-b32"}, {"--arg=-b=032"}},
      {{"--arg=--data=./data"},
       {"--arg=--data=data/"},
       {"--arg=--data=" + data},
       {"--arg=--data=data"},
       {"--arg=--data=../repo/data"}},
      {{"--arg=--data=./later"}},
      {{"--env", "FOO=1"}},
      {{"--env", "FOO=true"}},
      {{"--env", "FOO=True"}},
  };
  for (const auto& group : groups) {
    EXPECT_EQ(propose(group.front()).size(), 32U) << group.front().back();
    for (const auto& words : group) EXPECT_EQ(propose(words), "held") << words.back();
  }
}

TEST_F(KeysTest, OneEditUnderAnySpellingIsOneKey) {
  sandbox_.write("repo/x.txt", "a\nb\nC\nd\ne\n");
  const std::string with_git = git({"diff"});
  const std::string short_context = git({"diff", "-U1"});
  const std::string plain = with_git.substr(with_git.find("--- a/"));
  git({"commit", "-qam", "m"});
  const std::string mailed = git({"format-patch", "-1", "--stdout"});
  git({"reset", "-q", "--hard", "HEAD~1"});
  sandbox_.write("plain.patch", plain);
  EXPECT_EQ(propose({"--patch", "plain.patch"}).size(), 32U);
  sandbox_.write("other.patch", "--- a/x.txt\n+++ b/x.txt\n@@ -3 +3 @@\n-c\n+c2\n");
  EXPECT_EQ(propose({"--patch", "other.patch"}).size(), 32U);
  for (const std::string& text : {with_git, short_context, mailed}) {
    sandbox_.write("again.patch", text);
    EXPECT_EQ(propose({"--patch", "again.patch"}), "held") << text;
  }
  // The lines move; the edit stays what it is.
  sandbox_.write("repo/x.txt", "0\n1\n2\n3\n4\na\nb\nc\nd\ne\n");
  commit("lines before it");
  EXPECT_EQ(propose({"--patch", "plain.patch"}), "held");
  EXPECT_EQ(git({"status", "--porcelain"}), "") << "the checkout is never written to";
}

TEST_F(KeysTest, ASecretIsRefusedAndAReferenceRuns) {
  const std::string said = propose({"--arg=--api-token=abc123secret"});
  EXPECT_NE(said.find("seems to contain a secret (args/--api-token)"), said.npos) << said;
  EXPECT_NE(said.find("write {env:NAME} instead"), said.npos) << said;
  EXPECT_EQ(sandbox_.read("state/ledger.db").find("abc123secret"), std::string::npos);
  EXPECT_EQ(propose({"--arg=--api-token={env:MY_TOKEN}", "--env", "PYTHON_VERSION=3.10"}).size(),
            32U);
  ASSERT_EQ(
      sandbox_.amdahl({"cycle", "--watch", "--until", "first-win"}, {{"MY_TOKEN", "hunter2secret"}})
          .code,
      0);
  int ran = 0;
  for (const auto& file : fs::recursive_directory_iterator(sandbox_.path("state/runs"))) {
    const std::string inside = fs::relative(file.path(), sandbox_.path()).string();
    if (file.path().filename() == "args") {
      const std::string words = sandbox_.read(inside);
      if (words.find("--api-token hunter2secret") != words.npos) ++ran;
    } else if (file.path().extension() == ".json") {
      EXPECT_EQ(sandbox_.read(inside).find("hunter2secret"), std::string::npos) << inside;
    } else if (file.path().filename() == "env" && inside.find("/B/") != inside.npos) {
      const std::string all = sandbox_.read(inside);
      if (all.find("PYTHON_VERSION") != all.npos) {
        EXPECT_NE(all.find("PYTHON_VERSION=3.10\n"), std::string::npos);
      }
    }
  }
  EXPECT_GT(ran, 0);
}

TEST_F(KeysTest, AReferenceToNothingIsAnArmThatDoesNotStart) {
  ASSERT_EQ(propose({"--arg=--api-token={env:NOT_SET_ANYWHERE}"}).size(), 32U);
  ASSERT_EQ(sandbox_.amdahl({"cycle", "--watch"}).code, 0);
  const Json list = json_of(sandbox_.amdahl({"ledger", "list", "--json"}));
  EXPECT_EQ(list.at("hypotheses").at(0).at("state"), "invalid");
  int said = 0;
  for (const std::string& run : sandbox_.list("state/runs")) {
    const std::string receipt = "state/runs/" + run + "/B/receipt.json";
    if (!sandbox_.has(receipt)) continue;
    said += count_lines(sandbox_.read(receipt), "NOT_SET_ANYWHERE is not set");
  }
  EXPECT_GT(said, 0);
}

TEST_F(KeysTest, NothingIsForOthersToRead) {
  EXPECT_EQ(mode_of(sandbox_.path("state")), 0700U);
  EXPECT_EQ(mode_of(sandbox_.path("state/ledger.db")), 0600U);
  sandbox_.write("cfg.json", R"({"db": "x", "batch": 8})");
  ::chmod(sandbox_.path("cfg.json").c_str(), 0600);
  sandbox_.write("open.json", R"({"batch": 8})");
  ::chmod(sandbox_.path("open.json").c_str(), 0644);
  sandbox_.write("two.toml", R"(family = "two"
command = ["sh", "-c", "cat $0 $1 > /dev/null", "cfg.json", "open.json"]
time_limit_s = 10
[work]
fixed = 1
)");
  ASSERT_EQ(sandbox_.amdahl({"adopt", "--spec", "two.toml"}).code, 0);
  ASSERT_EQ(sandbox_
                .amdahl({"propose", "two", "--set", "cfg.json#batch=32", "--set",
                         "open.json#batch=32", "--gain", "20"})
                .code,
            0);
  ASSERT_EQ(sandbox_.amdahl({"cycle", "--watch"}).code, 0);
  int copies = 0;
  for (const auto& file : fs::recursive_directory_iterator(sandbox_.path("state"))) {
    const std::string path = file.path().string();
    if (file.is_directory()) {
      EXPECT_EQ(mode_of(path), 0700U) << path;
    } else if (file.path().filename() == "env" || file.path().filename() == "args") {
      continue;  // The job's own, in a folder that no one else enters.
    } else if (file.path().filename() == "open.json") {
      EXPECT_EQ(mode_of(path), 0644U) << "as its source is: " << path;
    } else {
      EXPECT_EQ(mode_of(path), 0600U) << path;
    }
    copies += file.path().filename() == "cfg.json" ? 1 : 0;
  }
  EXPECT_GT(copies, 0);
}

TEST_F(KeysTest, AnOpenStateFolderIsClosed) {
  ::chmod(sandbox_.path("state").c_str(), 0755);
  ::chmod(sandbox_.path("state/ledger.db").c_str(), 0644);
  EXPECT_NE(sandbox_.amdahl({"doctor"}).out.find("is open to others"), std::string::npos);
  sandbox_.write("state/photo.jpg", "of someone else");
  ASSERT_EQ(sandbox_.amdahl({"status"}).code, 0);
  EXPECT_EQ(mode_of(sandbox_.path("state")), 0755U) << "it holds more than ours";
  fs::remove(sandbox_.path("state/photo.jpg"));
  ASSERT_EQ(sandbox_.amdahl({"status"}).code, 0);
  EXPECT_EQ(mode_of(sandbox_.path("state")), 0700U);
  EXPECT_EQ(mode_of(sandbox_.path("state/ledger.db")), 0600U);
}

TEST_F(KeysTest, ComparingKeepsNoSecretOnDisk) {
  ::chmod(sandbox_.path("state").c_str(), 0755);
  const std::vector<std::string> arm = {"sh", "-c",         "sleep 0.05",
                                        "x",  "--password", "hunter2secret"};
  for (const bool concurrent : {false, true}) {
    std::vector<std::string> words = {"compare", "--pairs", "2", "--same", "0", "--noise", "5"};
    if (concurrent) words.emplace_back("--concurrent");
    words.insert(words.end(), {"--html", "page.html", "--"});
    words.insert(words.end(), arm.begin(), arm.end());
    words.emplace_back(":::");
    words.insert(words.end(), arm.begin(), arm.end());
    const Outcome done = sandbox_.amdahl(words);
    EXPECT_EQ((done.out + done.err).find("hunter2secret"), std::string::npos) << done.out;
    EXPECT_NE(done.out.find("2 pairs"), std::string::npos) << done.out << done.err;
  }
  EXPECT_EQ(mode_of(sandbox_.path("state")), 0700U);
  EXPECT_EQ(sandbox_.read("page.html").find("hunter2secret"), std::string::npos);
  for (const auto& file : fs::recursive_directory_iterator(sandbox_.path("state"))) {
    if (!file.is_regular_file()) continue;
    const std::string inside = fs::relative(file.path(), sandbox_.path()).string();
    EXPECT_EQ(sandbox_.read(inside).find("hunter2secret"), std::string::npos) << inside;
  }
}

}  // namespace
}  // namespace amdahl::e2e
