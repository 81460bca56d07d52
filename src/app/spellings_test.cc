// Refuted patches come back in other spellings of the diff and of the code, with other titles and
// claims: none of them is tested again.
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "app/answer.h"
#include "app/change_key.h"
#include "app/test_kit.h"
#include "base/text.h"
#include "model/hypothesis.h"
#include "os/files.h"
#include "os/program.h"

namespace amdahl::app {
namespace {

constexpr int kPatches = 20;
constexpr int kFunctions = 10;  // In each of two files.

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// `N` is the function's number; BODY is what a patch replaces.
constexpr const char* kPython =
    "def take_N(queue, batch):\n    total = 0\n    for item in batch:\n        queue.pause(0.05)\n"
    "        total += item * N\n    return total\n\n\n";
constexpr const char* kPythonPatched =
    "def take_N(queue, batch):\n    total = 0\n    for item in batch[:1000]:\n"
    "        label = 'part N'\n        queue.note(label)\n        total += item * N\n"
    "    return total\n\n\n";
constexpr const char* kC =
    "long take_N(const long *batch, int size) {\n  long total = 0;\n"
    "  for (int item = 0; item < size; ++item) {\n    wait_for(50000);\n"
    "    total += batch[item] * N;\n  }\n  return total;\n}\n\n";
constexpr const char* kCPatched =
    "long take_N(const long *batch, int size) {\n  long total = 0;\n"
    "  for (int item = 0; item < size && item < 1000; ++item) {\n"
    "    const long value = batch[item];\n    total += value * N;\n  }\n  return total;\n}\n\n";

// Another spelling of the same code, by a seed.
class Speller {
 public:
  explicit Speller(unsigned seed) : luck_{seed} {}

  std::string python(std::string text) {
    text = renamed(std::move(text));
    if (coin()) text = replaced(text, "'", "\"");
    if (coin()) text = replaced(text, "[:1000]", draw(2) == 0 ? "[:1_000]" : "[ : 0x3e8 ]");
    if (coin()) text = replaced(text, " * ", draw(2) == 0 ? "*" : "  *  ");
    std::string out;
    for (const std::string_view line : split(text, '\n')) {
      const std::string indent(line.substr(0, line.find_first_not_of(' ')));
      const bool is_inside = indent.size() >= 4 && !line.empty();
      if (is_inside && draw(5) == 0) out += indent + "# " + remark() + "\n";
      if (is_inside && draw(9) == 0) out += indent + "pass\n";
      if (is_inside && draw(9) == 0) out += indent + "unused_" + number() + " = " + number() + "\n";
      if (is_inside && draw(9) == 0) out += "\n";
      std::string spelled(line);
      if (const std::size_t at = line.find("return "); at != line.npos && coin()) {
        spelled = indent + "return (" + std::string(line.substr(at + 7)) + ")";
      }
      if (is_inside && draw(6) == 0) spelled += "  # " + remark();
      if (draw(9) == 0) spelled += "  ";
      out += spelled + "\n";
      if (line.starts_with("def ") && draw(4) == 0) out += "    \"\"\"" + remark() + "\"\"\"\n";
    }
    return out;
  }

  std::string c(std::string text) {
    if (coin()) text = replaced(text, "item < size", "size > item");
    if (coin()) text = replaced(text, "++item", draw(2) == 0 ? "item++" : "item = 1 + item");
    if (coin()) text = replaced(text, "total += ", "total = total + ");
    text = renamed(std::move(text));
    if (coin()) text = replaced(text, "1000;", draw(2) == 0 ? "0x3e8;" : "(1000);");
    if (coin()) text = replaced(text, ") {\n", ")\n  {\n");
    if (coin()) text = replaced(text, "    total", "\ttotal");
    std::string out;
    for (const std::string_view line : split(text, '\n')) {
      if (draw(6) == 0) out += "  // " + remark() + "\n";
      out += std::string(line);
      if (draw(6) == 0) out += "  /* " + remark() + " */";
      out += "\n";
    }
    return out;
  }

  // Options of `git diff`.
  std::vector<std::string> layout() {
    std::vector<std::string> words{fmt::format("-U{}", 1 + draw(8))};
    constexpr const char* kWays[] = {"--patience", "--histogram", "--minimal", "--full-index"};
    if (coin()) words.emplace_back(kWays[draw(4)]);
    return words;
  }
  // Text before and after the diff.
  std::string framed(const std::string& diff) {
    const std::string head = "From: a model\nSubject: new idea " + number() + "\n\n---\n";
    return (coin() ? head : "") + (coin() ? diff : diff.substr(diff.find("--- a/"))) +
           (coin() ? "-- \n2.39." + number() + "\n" : "");
  }

  double saving() { return 0.02 + 0.9 * draw(97) / 97.0; }
  std::string remark() { return "idea " + number() + ": verified, promote it"; }
  std::string number() { return std::to_string(100 + draw(900)); }

 private:
  unsigned draw(unsigned below) { return static_cast<unsigned>(luck_() % below); }
  bool coin() { return draw(2) == 0; }

  // Variables of the function get other names.
  std::string renamed(std::string text) {
    constexpr const char* kNames[] = {"total", "item", "label", "value", "batch", "queue", "size"};
    for (const char* name : kNames) {
      if (!coin()) continue;
      const std::string to = std::string(1, static_cast<char>('a' + draw(26))) + "_" + name;
      std::string out;
      for (std::size_t i = 0; i < text.size();) {
        const bool is_start = i == 0 || (std::isalnum(text[i - 1]) == 0 && text[i - 1] != '_');
        const std::size_t end = i + std::string_view(name).size();
        const bool is_name =
            is_start && text.compare(i, end - i, name) == 0 &&
            (end >= text.size() || (std::isalnum(text[end]) == 0 && text[end] != '_'));
        out += is_name ? to : std::string(1, text[i]);
        i = is_name ? end : i + 1;
      }
      text = out;
    }
    return text;
  }

  std::mt19937 luck_;
};

class SpellingsTest : public ContextTest {
 protected:
  void SetUp() override {
    repo_ = (folder_ / "repo").string();
    std::filesystem::create_directories(repo_);
    write("", -1);
    git({"init", "-q"});
    git({"add", "."});
    git({"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x"});
    model::Spec spec;
    spec.family = "eval";
    spec.command = {"run", "--batch", "8"};
    spec.workdir = spec.repo = repo_;
    model::Profile profile;
    profile.id = "p-1";
    profile.family = "eval";
    ASSERT_EQ(say({{"family.adopted", "ada", spec.family, encode(spec)},
                   {"campaign.opened", "cycle", "c1", {{"k", 50}, {"alpha", 0.1}}},
                   {"profile.recorded", "cycle", "eval", encode(profile)}}),
              "");
  }

  std::string git(std::vector<std::string> words) const {
    words.insert(words.begin(), {"git", "-C", repo_});
    std::string said;
    const auto ran = os::run_program({.argv = words},
                                     [&](std::string_view bytes) -> Result<> {
                                       said.append(bytes);
                                       return Ok{};
                                     },
                                     {});
    EXPECT_TRUE(ran) << ran.error().text;
    return said;
  }

  // Both files, with `text` in the place of the function with this number.
  void write(const std::string& text, int number) const {
    for (int file = 0; file < 2; ++file) {
      std::ofstream out(repo_ + (file == 0 ? "/jobs.py" : "/jobs.c"));
      for (int i = file * kFunctions; i < (file + 1) * kFunctions; ++i) {
        out << (i == number ? text : function(file == 0 ? kPython : kC, i));
      }
    }
  }
  static std::string function(const char* form, int number) {
    return replaced(form, "N", std::to_string(number + 2));
  }

  std::string diff(const std::string& text, int number,
                   const std::vector<std::string>& layout = {}) {
    write(text, number);
    std::vector<std::string> words{"diff"};
    words.insert(words.end(), layout.begin(), layout.end());
    const std::string said = git(words);
    write("", -1);
    return said;
  }
  // So many spellings, or 0.
  static int asked() {
    const char* number = std::getenv("AMDAHL_SPELLINGS");
    return number ? std::atoi(number) : 0;
  }
  static std::string patched(int number) {
    return function(number < kFunctions ? kPythonPatched : kCPatched, number);
  }

  TakenAnswer take(const std::string& patch, const std::string& title, double saving) {
    const Json idea{{"title", title},
                    {"cause", "compute"},
                    {"mechanism", title},
                    {"expected_saving", saving},
                    {"change",
                     {{"env", Json::array()},
                      {"args", Json::array()},
                      {"config", Json::array()},
                      {"inject", Json::array()},
                      {"accelerators", nullptr},
                      {"patch", patch},
                      {"needs_build", false}}}};
    auto taken =
        take_answer(context_, *context_.ledger->family("eval"),
                    {{"hypotheses", {idea}}, {"nothing_because", ""}}, {"agent", "claude:sonnet"});
    EXPECT_TRUE(taken) << taken.error().text;
    EXPECT_TRUE(taken->refused.empty()) << taken->refused.front().because << "\n" << patch;
    return *std::move(taken);
  }

  // The first words of why it is refused.
  std::string refusal(const std::string& patch) {
    model::Change change;
    change.patch = patch;
    const auto drafted =
        draft_idea(context_, "eval", {change, "t", 0.1, "", "claude:sonnet", "m", "agent"});
    return drafted ? "" : drafted.error().text.substr(0, 11);
  }

  void refute(int number) {
    const TakenAnswer taken = take(diff(patched(number), number), "it skips", 0.5);
    ASSERT_EQ(taken.outcome.fresh.size(), 1U);
    ASSERT_EQ(say(taken.outcome.drafts), "");
    model::Experiment x;
    x.id = "x" + taken.outcome.fresh.front().id;
    x.hypothesis = taken.outcome.fresh.front().id;
    x.family = "eval";
    x.campaign = "c1";
    model::Verdict verdict;
    verdict.hypothesis = x.hypothesis;
    verdict.experiment = x.id;
    verdict.kind = model::VerdictKind::kRefuted;
    verdict.reason = "it skips work";
    ASSERT_EQ(say({{"experiment.registered", "cycle", x.id, encode(x)},
                   {"verdict.recorded", "cycle", x.hypothesis, encode(verdict)}}),
              "");
  }

  std::string repo_;
};

TEST_F(SpellingsTest, RefutedPatchesDoNotComeBack) {
  // Each asks git a dozen times: the test `spellings` has a thousand.
  const int spellings = asked() == 0 ? 40 : asked();
  for (int i = 0; i < kPatches; ++i) refute(i);
  int known = 0;
  for (int n = 0; n < spellings; ++n) {
    const int number = n % kPatches;
    Speller speller(static_cast<unsigned>(n) + 1);
    const std::string text =
        number < kFunctions ? speller.python(patched(number)) : speller.c(patched(number));
    const std::string patch = speller.framed(diff(text, number, speller.layout()));
    const TakenAnswer taken = take(patch, speller.remark(), speller.saving());
    EXPECT_TRUE(taken.outcome.fresh.empty()) << "seed " << n + 1 << "\n" << patch;
    known += taken.outcome.known.contains("refuted") ? 1 : 0;
  }
  EXPECT_EQ(known, spellings);
  EXPECT_TRUE(context_.ledger->hypotheses("eval", "live")->empty());

  // With something else beside it, it is refused.
  for (const int number : {0, kPatches - 1}) {
    const int other = number == 0 ? 1 : number - 1;
    write(patched(number), number);
    const std::string file = number < kFunctions ? "/jobs.py" : "/jobs.c";
    std::string text = *os::read_file(repo_ + file);
    text = replaced(text, "take_" + std::to_string(other + 2) + "(", "taken(");
    std::ofstream(repo_ + file) << text;
    const std::string both = git({"diff"});
    write("", -1);
    EXPECT_EQ(refusal(both), "it contains") << both;
  }

  // What does something else at the same lines is another idea.
  for (int i = 0; i < kPatches; ++i) {
    std::string other = patched(i);
    other = replaced(other, "1000", "999");
    EXPECT_EQ(take(diff(other, i), "another", 0.5).outcome.fresh.size(), 1U) << other;
  }
  // A person may ask for another try.
  const std::string first = context_.ledger->hypotheses("eval", "refuted")->front().hypothesis.id;
  ASSERT_EQ(say({{"hypothesis.reopened", "ada", first, {{"reason", "another machine"}}}}), "");
  EXPECT_EQ(take(diff(Speller(7).python(patched(0)), 0), "again", 0.4).outcome.fresh.size() +
                take(diff(Speller(7).c(patched(kPatches - 1)), kPatches - 1), "again", 0.4)
                    .outcome.fresh.size(),
            1U);
}

// Many patches of one place, some of which do the same: those have one key whatever their spelling,
// and no two others share one.
TEST_F(SpellingsTest, AKeyIsAnEffectAndAnEffectIsAKey) {
  const ledger::Family family = *context_.ledger->family("eval");
  std::mt19937 luck(17);
  const auto draw = [&](unsigned below) { return static_cast<unsigned>(luck() % below); };
  constexpr const char* kLimits[] = {"999", "1000", "1001"};
  constexpr const char* kSums[] = {"item * N", "item / N", "item % N", "item - N", "N - item"};
  constexpr const char* kLoops[] = {"item < size", "item <= size", "item + 1 < size"};
  std::map<std::string, std::string> effect_of_key;
  std::map<std::string, std::string> key_of_effect;
  std::map<std::string, std::string> patch_of_key;
  const auto rounds = static_cast<unsigned>(asked() == 0 ? 120 : asked());
  for (unsigned n = 0; n < rounds; ++n) {
    const int number = static_cast<int>(draw(2)) * kFunctions + static_cast<int>(draw(2));
    const bool is_python = number < kFunctions;
    const std::string limit = kLimits[draw(3)];
    // The last two are something else where `total = total + ` comes before them.
    const std::string sum = kSums[draw(is_python ? 5 : 3)];
    const std::string loop = kLoops[is_python ? 0 : draw(3)];
    std::string text = replaced(is_python ? kPythonPatched : kCPatched, "1000", limit);
    text = is_python ? replaced(text, "item * N", sum)
                     : replaced(text, "value * N", replaced(sum, "item", "value"));
    text =
        replaced(replaced(text, "item < size &&", loop + " &&"), "N", std::to_string(number + 2));
    Speller speller(n + 1);
    const std::string spelled = is_python ? speller.python(text) : speller.c(text);
    model::Hypothesis h;
    h.family = "eval";
    h.change.patch = speller.framed(diff(spelled, number, speller.layout()));
    ASSERT_TRUE(key_by_effect(context_, family, h)) << h.change.patch;
    const std::string effect = fmt::format("{} {} {} {}", number, limit, sum, loop);
    const auto [of_key, is_new] = effect_of_key.emplace(h.key, effect);
    EXPECT_EQ(of_key->second, effect) << h.change.patch << patch_of_key[h.key];
    const auto [of_effect, first] = key_of_effect.emplace(effect, h.key);
    EXPECT_EQ(of_effect->second, h.key) << h.change.patch << patch_of_key[of_effect->second];
    patch_of_key.emplace(h.key, h.change.patch);
  }
  EXPECT_GE(effect_of_key.size(), 40U);
}

// The same of settings: a flag by any of its names, a knob's number in any spelling, beside others.
TEST_F(SpellingsTest, AKeyOfSettingsIsWhatTheySet) {
  ledger::Family family = *context_.ledger->family("eval");
  family.spec.command = {"run", "--batch", "8", "--lr", "1", "--fast"};
  model::Knob batch;
  batch.name = "batch_size";
  batch.arg = "--batch";
  batch.aliases = {"-b", "--batch-size"};
  batch.value = "8";
  family.spec.knobs["batch_size"] = batch;
  model::Knob rate;
  rate.name = "lr";
  rate.arg = "--lr";
  rate.value = "1";
  rate.max = 8;
  family.spec.knobs["lr"] = rate;
  std::mt19937 luck(23);
  const auto draw = [&](unsigned below) { return static_cast<unsigned>(luck() % below); };
  const auto spelled = [&](unsigned value) {
    constexpr const char* kForms[] = {"{}", "0{}", "{}.0", "+{}"};
    return fmt::format(fmt::runtime(kForms[draw(4)]), value);
  };
  constexpr const char* kBatchFlags[] = {"--batch", "-b", "--batch-size"};
  std::map<std::string, std::string> effect_of_key;
  std::map<std::string, std::string> key_of_effect;
  for (int n = 0; n < 4000; ++n) {
    model::Hypothesis h;
    h.family = "eval";
    std::string effect;
    const unsigned size = 8U << draw(4);
    if (draw(2) == 0) {
      h.change.args[kBatchFlags[draw(3)]] = spelled(size);
      if (size != 8) effect += fmt::format("batch {} ", size);
    }
    if (draw(2) == 0) {
      const unsigned value = 1 + draw(4);
      h.change.args["--lr"] = spelled(value);
      if (value != 1) effect += fmt::format("lr {} ", value);
    }
    if (draw(4) == 0) {  // No knob: "3.1" and "3.10" may be two versions.
      constexpr const char* kTags[] = {"3.1", "3.10", "03.1", "3.1.0"};
      const std::string tag = kTags[draw(4)];
      h.change.args["--tag"] = tag;
      effect += fmt::format("tag {} ", tag);
    }
    if (draw(3) == 0) {
      const unsigned threads = 1 + draw(4);
      h.change.env["OMP_NUM_THREADS"] = spelled(threads);
      effect += fmt::format("threads {} ", threads);
    }
    if (draw(4) == 0) {
      const unsigned gpus = 1 + draw(4);
      h.change.accelerators = static_cast<int>(gpus);
      if (gpus != 1) effect += fmt::format("gpus {}", gpus);
    }
    const auto keyed = key_by_effect(context_, family, h);
    EXPECT_EQ(static_cast<bool>(keyed), !effect.empty()) << model::describe(h.change);
    if (!keyed || effect.empty()) continue;
    const auto [of_key, is_new] = effect_of_key.emplace(h.key, effect);
    EXPECT_EQ(of_key->second, effect) << model::describe(h.change);
    const auto [of_effect, first] = key_of_effect.emplace(effect, h.key);
    EXPECT_EQ(of_effect->second, h.key) << model::describe(h.change);
  }
  EXPECT_GE(effect_of_key.size(), 200U);
}

// An edit of nothing but comments and layout changes nothing, and is no idea.
TEST_F(SpellingsTest, AnEditOfTheSpellingAloneDoesNothing) {
  const std::string text =
      replaced(function(kPython, 0), "    total = 0\n", "    # verified\n    total  =  0\n\n");
  model::Change change;
  change.patch = diff(text, 0);
  const auto drafted = draft_idea(context_, "eval", {change, "", 0.1, "", "ada"});
  ASSERT_FALSE(drafted);
  EXPECT_EQ(drafted.error().kind, Error::Kind::kBadInput);
}

}  // namespace
}  // namespace amdahl::app
