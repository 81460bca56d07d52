#include "model/effect.h"

#include <map>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "model/change_testing.h"
#include "model/patch_edits.h"
#include "model/plan.h"

namespace amdahl::model {
namespace {

Knob knob(const std::string& name, const std::string& arg, const std::string& value,
          std::vector<std::string> aliases = {}) {
  Knob made;
  made.name = name;
  made.arg = arg;
  made.value = value;
  made.aliases = std::move(aliases);
  return made;
}

Spec job() {
  Spec spec;
  spec.family = "f";
  spec.command = {"python3",  "-u",    "train.py", "--batch", "8",
                  "--lr=0.1", "--amp", "data",     "opt.k=3"};
  spec.workdir = "/w";
  spec.repo = "/w";
  spec.env = {{"OMP_NUM_THREADS", "4"}, {"MODE", "Fast"}};
  spec.accelerators = 4;
  spec.knobs["batch_size"] = knob("batch_size", "--batch", "8", {"-b", "--bs"});
  spec.knobs["log_every"] = knob("log_every", "--log-every", "10");
  Knob config = knob("metric_every", "", "1");
  config.config = "c.json#io.every";
  spec.knobs["metric_every"] = config;
  Knob text = knob("precision", "--precision", "16");
  spec.knobs["precision"] = text;
  return spec;
}

Change config(std::map<std::string, std::string> places) {
  Change change;
  change.config = std::move(places);
  return change;
}
Change wrap(std::vector<std::string> words) {
  Change change;
  change.wrap = std::move(words);
  return change;
}
Change patch(std::string text, bool needs_build = false) {
  Change change;
  change.patch = std::move(text);
  change.needs_build = needs_build;
  return change;
}

constexpr std::string_view kPlain = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-index 1\n+index 2\n";

using Groups = std::vector<std::vector<Change>>;

// The changes of a group have one key, and each group another.
void expect_keys(const Groups& groups) {
  std::map<std::string, std::size_t> group_of;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const std::string first = key(job(), {}, groups[group].front(), "cpu");
    EXPECT_EQ(first.size(), 32U);
    EXPECT_TRUE(group_of.emplace(first, group).second)
        << describe(groups[group].front()) << " has the key of group " << group_of[first];
    for (const Change& change : groups[group]) {
      EXPECT_EQ(key(job(), {}, change, "cpu"), first)
          << describe(change) << " against " << describe(groups[group].front());
    }
  }
}

TEST(Effect, SpellingsOfOneChangeShareTheirKeyAndOthersDoNot) {
  expect_keys({
      {args({{"--batch", "32"}}), args({{"-b", "32"}}), args({{"--bs", "032"}}),
       args({{"--batch", "32.0"}}), args({{"--batch", " 32 "}}), args({{"--batch=32", ""}}),
       args({{"--batch 32", ""}}), args({{"-b32", ""}}), args({{"-b=32", ""}}),
       args({{"-b", "+32"}}), args({{"-b", "3.2e1"}}),
       args({{"--batch", "32"}, {"--lr", "0.1"}, {"--log-every", "10"}, {"opt.k", "3"}})},
      {args({{"--lr", "0.001"}})},
      {args({{"--lr", "1e-3"}})},  // Another program may take it for a name.
      {args({{"--precision", "16.0"}})},
      {args({{"--bat", "32"}})},
      {args({{"--py", "3.10"}}), args({{"--py=3.10", ""}})},
      {args({{"--py", "3.1"}})},
      {args({{"--no-amp", ""}})},
      {args({{"--amp", "false"}})},
      {args({{"--x", "1"}})},
      {args({{"--x", "true"}})},
      {args({{"--x", ""}})},
      {args({{"--x", " 1"}})},
      {args({{"--x", "1\n"}})},
      {args({{"--x", "\"1\""}})},
      {args({{"--x", "\u00e9"}})},
      {args({{"--x", "e\u0301"}})},
      {env({{"PYTHON_VERSION", "3.10"}})},
      {env({{"PYTHON_VERSION", "3.1"}})},
      {env({{"COMMIT", "1234e5"}})},
      {env({{"COMMIT", "123400000"}})},
      {env({{"ZIP", "007"}})},
      {env({{"ZIP", "7"}})},
      {env({{"OMP_WAIT_POLICY", "passive"}}), env({{"OMP_WAIT_POLICY", "PASSIVE"}}),
       env({{" OMP_WAIT_POLICY ", " Passive\n"}}),
       env({{"OMP_WAIT_POLICY", "passive"}, {"OMP_NUM_THREADS", "04"}, {"MODE", "Fast"}})},
      {env({{"KMP_AFFINITY", "compact"}}), env({{"KMP_AFFINITY", "COMPACT"}})},
      {env({{"MALLOC_ARENA_MAX", "2"}}), env({{"MALLOC_ARENA_MAX", "02"}})},
      {env({{"MODE", "fast"}})},
      {env({{"MODE", "FAST"}})},
      {env({{"MODE", std::nullopt}})},
      {env({{"MODE", ""}})},
      {args({{"--batch", std::nullopt}}), args({{"-b", std::nullopt}})},
      {args({{"--batch", "-32"}})},
      {Change{}, args({{"--batch", "8"}}), args({{"--batch", "08"}}), args({{"--lr", "0.1"}}),
       args({{"--amp", ""}}), args({{"--nothing", std::nullopt}}), env({{"MODE", "Fast"}}),
       config({{"/w/c.json#io.every", "1.0"}})},
      {config({{"c.json#io.every", "0"}}), config({{" ./c.json#io.every", " 00 "}}),
       config({{"/w/c.json#io.every", "0.0"}}), config({{"a/../c.json#io.every", "0"}})},
      {config({{"c.json#io.name", "0"}})},
      {config({{"c.json#io.name", "00"}})},
      {config({{"/other/c.json#io.every", "0"}})},
      {wrap({"nice", "-n", "5"})},
      {wrap({"nice", "-n", "5", ""})},
      {wrap({"nice -n 5"})},
  });
}

TEST(Effect, DialectsOfOnePatchShareTheirKeyAndOthersDoNot) {
  expect_keys({
      {patch(std::string(kPlain)), patch(std::string(kPlain), true),
       patch("diff --git a/x b/x\nindex 12..34 100644\n--- a/x\t2024-01-01\n+++ b/x\t2025\n"
             "@@ -1 +1 @@ f()\n-index 1\n+index 2\n\n"),
       patch("--- a/x\n+++ b/x\n@@ -7,3 +9,3 @@\n c\n-index 1\n+index 2\n d\n"),
       patch("--- x.orig\n+++ x\n@@ -7,2 +9,2 @@\n\n-index 1\n+index 2\n"),
       patch("--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-index 1\r\n+index 2\r\n")},
      {patch("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-index 1\r\n+index 2\r\n")},
      {patch("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-index 1\n+index 2\n\\ No newline at end of file\n")},
      {patch("--- a/y\n+++ b/y\n@@ -1 +1 @@\n-index 1\n+index 2\n")},
      {patch("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n")},
      {patch("diff --git a/x b/x\nnew file mode 100644\nindex 000..e69\n")},
      {patch("diff --git a/x b/x\nnew file mode 100755\nindex 000..e69\n")},
      {patch("diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 "
             "@@\n-a\n"),
       patch("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n")},
      {patch("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n")},
      {patch(
          "diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 1\nIcmZ\n\nliteral 0\nH\n")},
      {patch(
          "diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 1\nIcmY\n\nliteral 0\nH\n")},
  });
}

TEST(Effect, KeysTellTheirHardware) {
  const std::string here = key(job(), {}, args({{"--batch", "32"}}), "cpu: A");
  EXPECT_FALSE(is_for_other_hardware(here, "cpu: A"));
  EXPECT_TRUE(is_for_other_hardware(here, "gpu: B"));
  EXPECT_FALSE(is_for_other_hardware("0123456789abcdef0123456789abcdef", "gpu: B"))
      << "of an older version";
}

TEST(Effect, FilesOfAPatchComeInAnyOrder) {
  const std::string x(kPlain);
  const std::string y = "--- a/y\n+++ b/y\n@@ -3,2 +3,2 @@\n c\n-1\n+2\n";
  EXPECT_EQ(key(job(), {}, patch(x + y), "cpu"), key(job(), {}, patch(y + x), "cpu"));
  EXPECT_NE(key(job(), {}, patch(x + y), "cpu"), key(job(), {}, patch(x), "cpu"));
}

// The edit in the file as git shows it with -U0, told apart from the file's other lines.
std::string edit_at(const std::vector<std::string>& file, std::size_t at, const std::string& line) {
  const std::string diff =
      fmt::format("--- a/x\n+++ b/x\n@@ -{},0 +{} @@\n+{}\n", at, at + 1, line);
  std::vector<FileEdit> files = read_patch(diff);
  tell_apart(files.front(), join(file, "\n") + "\n");
  return describe_edits(files);
}

TEST(Effect, OneEditAtTwoPlacesIsTwoEdits) {
  const std::vector<std::string> file = {"a", "b", "c", "a", "b", "d"};
  std::set<std::string> seen;
  for (std::size_t at = 0; at <= file.size(); ++at) {
    EXPECT_TRUE(seen.insert(edit_at(file, at, "new")).second) << at;
  }
  EXPECT_EQ(edit_at(file, 2, "new"), "file x\n@\n<=b\n+new\n>=c\n");
  EXPECT_EQ(edit_at({"z", "z", "a", "b", "c"}, 4, "new"), edit_at(file, 2, "new"))
      << "lines that come far before it move it and no more";
  const std::vector<std::string> same(1000, "x");
  seen.clear();
  for (std::size_t at = 0; at <= same.size(); at += 50) {
    EXPECT_TRUE(seen.insert(edit_at(same, at, "new")).second) << at;
  }
}

// From a seed: one value of one knob in all its spellings, and values that differ.
class Luck {
 public:
  explicit Luck(unsigned seed) : engine_(seed) {}
  int below(int count) { return static_cast<int>(engine_() % static_cast<unsigned>(count)); }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
  }

 private:
  std::mt19937 engine_;
};

std::string spell_number(Luck& luck, int n) {
  const std::string plain = std::to_string(n);
  return luck.pick<std::string>({plain, "0" + plain, "+" + plain, plain + ".0", plain + ".",
                                 fmt::format("{}e0", n), fmt::format("{}0e-1", n), " " + plain,
                                 plain + " "});
}

Change spell_batch(Luck& luck, int n) {
  const std::string flag = luck.pick<std::string>({"--batch", "-b", "--bs"});
  switch (luck.below(4)) {
    case 0:
      return args({{flag + "=" + spell_number(luck, n), ""}});
    case 1:
      return args({{flag + " " + spell_number(luck, n), ""}});
    case 2:
      return args({{fmt::format("-b{}", n), ""}});
    default:
      return args({{flag, spell_number(luck, n)}});
  }
}

TEST(EffectProperty, OneNumberOfAKnobIsOneKey) {
  Luck luck(13);
  for (int i = 0; i < 3000; ++i) {
    const int n = 9 + luck.below(1000);
    Change change = spell_batch(luck, n);
    if (luck.below(2) == 0) change.env["MODE"] = "Fast";  // As the spec has it.
    if (luck.below(2) == 0) change.args["--lr"] = "0.1";
    ASSERT_EQ(key(job(), {}, change, "cpu"),
              key(job(), {}, args({{"--batch", std::to_string(n)}}), "cpu"))
        << describe(change);
    const auto plan = make_plan(job(), by_first_name(job(), change));
    ASSERT_TRUE(plan) << plan.error().text;
    const Change other = spell_batch(luck, n + 1);
    ASSERT_NE(key(job(), {}, change, "cpu"), key(job(), {}, other, "cpu")) << describe(other);
  }
}

TEST(EffectProperty, DifferentTextsAreDifferentKeysWhereNothingSaysNumber) {
  Luck luck(14);
  std::map<std::string, std::string> text_of;
  const std::vector<std::string> pieces = {"0", "1", "3", ".", "e",  "-",
                                           "+", " ", "x", "/", "\n", "é"};
  for (int i = 0; i < 1500; ++i) {
    std::string text = "v";
    for (int n = luck.below(6); n >= 0; --n) text += luck.pick(pieces);
    if (luck.below(2) == 0) text.erase(0, 1);
    for (const int way : {0, 1, 2}) {
      Change change;
      if (way == 0) change.env["X"] = text;
      if (way == 1) change.args["--x"] = text;
      if (way == 2) change.config["c.json#x"] = text;
      const std::string name = fmt::format("{} {}", way, text);
      const auto [found, is_new] = text_of.emplace(key(job(), {}, change, "cpu"), name);
      ASSERT_EQ(found->second, name);
      // What runs has every byte.
      const auto plan = make_plan(job(), by_first_name(job(), change));
      ASSERT_TRUE(plan) << plan.error().text;
      if (way == 0) {
        ASSERT_EQ(plan->env.at("X"), text);
      } else if (way == 2) {
        ASSERT_EQ(plan->config.at("c.json#x"), text);
      }
    }
  }
}

TEST(EffectProperty, FoldingTwiceIsFoldingOnce) {
  Luck luck(15);
  for (int i = 0; i < 1000; ++i) {
    Change change = spell_batch(luck, luck.below(100));
    change.env["OMP_NUM_THREADS"] = spell_number(luck, luck.below(9));
    change.config["./c.json#io.every"] = spell_number(luck, luck.below(9));
    const Change once = canonical(job(), {}, change);
    ASSERT_EQ(canonical(job(), {}, once), once) << describe(change);
  }
}

}  // namespace
}  // namespace amdahl::model
