#include "app/change_key.h"

#include <fstream>
#include <random>

#include "app/propose.h"
#include "app/test_kit.h"
#include "base/text.h"
#include "hypothesize/propose.h"
#include "model/plan.h"
#include "os/files.h"
#include "os/program.h"

namespace amdahl::app {
namespace {

namespace fs = std::filesystem;

class ChangeKeyTest : public ContextTest {
 protected:
  ChangeKeyTest() {
    repo_ = (folder_ / "repo").string();
    fs::create_directories(repo_ + "/data");
    git({"init", "-q", "."});
    git({"config", "user.email", "ada@example.org"});
    git({"config", "user.name", "Ada"});
    write("x.txt", "a\nb\nc\na\nb\nd\n");
    write("y.txt", "1\n2\n3\n");
    write("dos.txt", "a\r\nb\r\n");
    write("bytes", std::string("\0\1\2", 3));
    write("data/f", "q\n");
    commit();
    model::Spec spec;
    spec.family = "eval";
    spec.command = {"run", "--batch", "8", "--data", "data"};
    spec.workdir = repo_;
    spec.repo = repo_;
    EXPECT_EQ(say({{"family.adopted", "ada", spec.family, encode(spec)}}), "");
  }

  std::string git(std::vector<std::string> words) const {
    words.insert(words.begin(), {"git", "-C", repo_});
    std::string said;
    const auto done = os::run_program(
        {.argv = words},
        [&](std::string_view bytes) -> Result<> {
          said.append(bytes);
          return Ok{};
        },
        [] { return false; });
    EXPECT_TRUE(done) << done.error().text;
    return said;
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(repo_ + "/" + name, std::ios::binary) << text;
  }
  void commit() const {
    git({"add", "-A", "."});
    git({"commit", "-q", "-m", "m"});
  }
  // The work tree's changes as a diff, after which they are gone.
  std::string diff(std::vector<std::string> options = {}) const {
    git({"add", "-A", "."});
    options.insert(options.begin(), {"diff", "--cached", "--binary"});
    return git(options);
  }
  void reset() const { git({"reset", "-q", "--hard"}); }

  std::string edits(const std::string& patch, const std::string& before = "") const {
    return effect_of(repo_, before, patch).value_or(PatchEffect{"(does not apply)", ""}).edits;
  }

  Result<model::Hypothesis> propose(const model::Change& change, double gain = 0.1) {
    return propose_change(context_, "eval", {change, "", gain, "", "ada"});
  }

  std::string repo_;
};

TEST_F(ChangeKeyTest, ATreeIsTheSameHoweverThePatchIsWritten) {
  write("x.txt", "a\nb\nC\na\nb\nd\n");
  write("y.txt", "1\n2\n3\n4\n");
  const std::string want = "file x.txt\n@\n-c\n+C\nfile y.txt\n@\n<=3\n+4\n>$\n";
  const std::string normal = diff();
  for (const std::string& patch :
       {normal, diff({"-U1"}), diff({"-U20"}), diff({"--minimal", "--full-index"}),
        diff({"--patience"}), diff({"-U0"}) + ""}) {
    if (patch.find("@@ -3 +3 @@") != patch.npos) continue;  // git wants to be told of no context.
    reset();
    EXPECT_EQ(edits(patch), want) << patch;
  }
  reset();
  const std::size_t second = normal.find("diff --git a/y.txt");
  EXPECT_EQ(edits(normal.substr(second) + normal.substr(0, second)), want);
  std::string plain = normal.substr(normal.find("--- "));
  plain = plain.substr(0, plain.find("diff --git")) + plain.substr(plain.find("--- a/y.txt"));
  EXPECT_EQ(edits(plain), want);
  EXPECT_EQ(edits("From: Ada\nSubject: m\n\n---\n x.txt | 2 +-\n\n" + normal + "-- \n2.39\n"),
            want);
  EXPECT_EQ(git({"status", "--porcelain"}), "");
  EXPECT_EQ(edits("--- a/x.txt\n+++ b/x.txt\n@@ -1 +1 @@\n-nothing\n+like it\n"),
            "(does not apply)");
}

TEST_F(ChangeKeyTest, LinesThatMoveChangeNothing) {
  const std::string before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
  write("z.txt", before);
  commit();
  write("z.txt", "1\n2\n3\n4\nfive\nnew\n6\n7\n8\n9\n");
  const std::string patch = diff();
  reset();
  const std::string effect = edits(patch);
  EXPECT_EQ(effect, "file z.txt\n@\n-5\n+five\n+new\n");
  write("z.txt", "a\nb\nc\nd\n" + before + "x\ny\n");
  commit();
  EXPECT_EQ(edits(patch), effect);
}

TEST_F(ChangeKeyTest, DifferentTreesAreDifferent) {
  std::map<std::string, std::string> patch_of;
  const auto add = [&](const std::string& patch) {
    reset();
    const auto [found, is_new] = patch_of.emplace(edits(patch), patch);
    EXPECT_TRUE(is_new) << patch << " does what this does: " << found->second << found->first;
  };
  const auto edit = [&](const std::string& name, const std::string& text) {
    write(name, text);
    add(diff());
  };
  edit("x.txt", "A\nb\nc\na\nb\nd\n");
  edit("x.txt", "a\nb\nc\nA\nb\nd\n");
  edit("x.txt", "new\na\nb\nc\na\nb\nd\n");
  edit("x.txt", "a\nnew\nb\nc\na\nb\nd\n");
  edit("x.txt", "a\nb\nc\na\nnew\nb\nd\n");
  edit("x.txt", "a\nb\nc\na\nb\nd\nnew\n");
  edit("x.txt", "a\nb\nc\na\nb\nd");
  edit("x.txt", "a\nb\nc\na\nb\nd \n");
  edit("dos.txt", "a\nb\n");
  edit("dos.txt", "a\r\nB\r\n");
  edit("dos.txt", "a\r\nB\n");
  edit("bytes", std::string("\0\1\3", 3));
  edit("bytes", std::string("\0\1\4", 3));
  edit("empty", "");
  edit("empty2", "");
  edit("new", "text\n");
  git({"mv", "y.txt", "z.txt"});
  add(diff());
  git({"rm", "-q", "y.txt"});
  add(diff());
  fs::permissions(repo_ + "/x.txt", fs::perms::owner_all);
  add(diff());
  EXPECT_EQ(patch_of.size(), 19U);
}

TEST_F(ChangeKeyTest, ARenameIsWhatItMakesOfTheTree) {
  git({"mv", "y.txt", "z.txt"});
  const std::string renamed = diff({"-M"});
  const std::string apart = diff({"--no-renames"});
  reset();
  ASSERT_NE(renamed, apart);
  EXPECT_EQ(edits(renamed), edits(apart));
}

// From a seed: a file of few different lines, one edit of it in several spellings.
TEST_F(ChangeKeyTest, SpellingsOfRandomEditsAgreeAndOthersDiffer) {
  std::mt19937 luck(13);
  std::vector<std::string> lines;
  for (int i = 0; i < 30; ++i) lines.emplace_back(1, static_cast<char>('a' + luck() % 4));
  const auto text = [](const std::vector<std::string>& of) { return join(of, "\n") + "\n"; };
  write("x.txt", text(lines));
  commit();
  std::map<std::string, std::string> text_of;
  for (int i = 0; i < 25; ++i) {
    std::vector<std::string> edited = lines;
    const auto at = edited.begin() + static_cast<std::ptrdiff_t>(luck() % edited.size());
    if (luck() % 3 == 0) {
      edited.erase(at);
    } else if (luck() % 2 == 0) {
      *at = "new";
    } else {
      edited.insert(at, std::string(1, static_cast<char>('a' + luck() % 4)));
    }
    if (edited == lines) continue;
    write("x.txt", text(edited));
    const std::string patch = diff();
    const std::string wide = diff({"-U9", "--patience"});
    reset();
    const std::string effect = edits(patch);
    ASSERT_EQ(edits(wide), effect);
    const auto [found, is_new] = text_of.emplace(effect, text(edited));
    ASSERT_EQ(found->second, text(edited)) << effect;
  }
}

TEST_F(ChangeKeyTest, AnExistingPathHasOneSpelling) {
  const auto data = [](const std::string& value) {
    model::Change change;
    change.args["--input"] = value;
    return change;
  };
  const auto first = propose(data("./data"));
  ASSERT_TRUE(first) << first.error().text;
  EXPECT_EQ(first->change.args.at("--input"), "./data") << "what runs is as written";
  for (const std::string& value : {std::string("data"), std::string("data/"), repo_ + "/data",
                                   std::string("data/../data"), repo_ + "/./data//"}) {
    const auto again = propose(data(value));
    ASSERT_FALSE(again) << value;
    EXPECT_EQ(again.error().kind, Error::Kind::kConflict) << again.error().text;
  }
  EXPECT_TRUE(propose(data("./nowhere")));
  EXPECT_TRUE(propose(data("nowhere"))) << "may be a name of something else";
  EXPECT_TRUE(propose(data("/tmp")));
  model::Change same;
  same.args["--data"] = repo_ + "/data/";
  const auto nothing = propose(same);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().text.find("the change does nothing"), 0U) << nothing.error().text;
}

// What a ledger of an older version holds: folded text, and a key of another form.
TEST_F(ChangeKeyTest, KeysOfOlderVersionsStillBlock) {
  model::Hypothesis old;
  old.id = "h-0ld";
  old.family = "eval";
  old.key = "0123456789abcdef0123456789abcdef";
  old.title = "an old idea";
  old.change.env["VERSION"] = "3.1";
  ASSERT_EQ(say({{"hypothesis.proposed", "ada", old.id, encode(old)}}), "");
  old.id = "h-0ld2";
  old.key = "1123456789abcdef0123456789abcdef";
  old.change = {};
  old.change.patch = "--- a/x.txt\n+++ b/x.txt\n@@ -2,3 +2,3 @@\n b\n-c\n+C\n a\n";
  old.change.needs_build = true;
  ASSERT_EQ(say({{"hypothesis.proposed", "ada", old.id, encode(old)}}), "");
  model::Change change;
  change.env["VERSION"] = "3.1";
  const auto again = propose(change);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().text.find("h-0ld is this idea"), 0U) << again.error().text;
  change.env["VERSION"] = "3.10";
  EXPECT_TRUE(propose(change)) << "only 3.1 ever ran";
  change = {};
  write("x.txt", "a\nb\nC\na\nb\nd\n");
  change.patch = diff({"-U1"});
  reset();
  const auto patched = propose(change);
  ASSERT_FALSE(patched);
  EXPECT_EQ(patched.error().text.find("h-0ld2 is this idea"), 0U) << patched.error().text;
}

TEST_F(ChangeKeyTest, WhatWasTriedOnOtherHardwareIsNotHeld) {
  model::Change change;
  change.args["--batch"] = "32";
  context_.hardware = "gpu: other";
  ASSERT_TRUE(propose(change));
  context_.hardware = "cpu: test";
  EXPECT_TRUE(propose(change));
  EXPECT_FALSE(propose(change));
}

TEST_F(ChangeKeyTest, ASecretIsRefused) {
  model::Change change;
  change.args["--api-token"] = "abc123secret";
  const auto refused = propose(change);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text,
            "the change seems to contain a secret (args/--api-token), which must not be stored: "
            "put it into the environment and write {env:NAME} instead");
  change.args["--api-token"] = "{env:API_TOKEN}";
  const auto stored = propose(change);
  ASSERT_TRUE(stored) << stored.error().text;
  EXPECT_EQ(context_.ledger->hypothesis(stored->id)->hypothesis.change, change);
}

}  // namespace
}  // namespace amdahl::app
