#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "hypothesize/operation.h"
#include "hypothesize/playbook.h"
#include "source_dir.h"

namespace amdahl::hypothesize {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(std::string(AMDAHL_SOURCE_DIR "/") + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<Entry> shipped() {
  auto entries = embedded_playbook();
  EXPECT_TRUE(entries) << (entries ? "" : entries.error().text);
  return entries ? *std::move(entries) : std::vector<Entry>{};
}

constexpr std::string_view kGood = R"(title = "larger batches"
bottleneck = "serial"
when = ["knob.batch_size exists"]
explains = ["compute_share"]
mechanism = "fewer steps"
source = "a test"
[change.knobs]
batch_size = "x4"
)";

// kGood with the first line that starts with `start` replaced.
std::string with(std::string_view start, std::string_view line) {
  std::string result;
  for (const std::string_view old : split(kGood, '\n')) {
    result += old.starts_with(start) ? line : old;
    result += '\n';
  }
  return result;
}

TEST(Entry, DefaultsAndIdFromTheFileName) {
  const auto entry = parse_entry(kGood, "site/playbook/batch-x4.toml");
  ASSERT_TRUE(entry) << entry.error().text;
  EXPECT_EQ(entry->id, "batch-x4");
  EXPECT_EQ(entry->bottleneck, model::Bottleneck::kSerial);
  EXPECT_EQ(entry->effectiveness, 0.5);
  EXPECT_EQ(entry->prior, 0.15);
  EXPECT_EQ(entry->knobs.at("batch_size"), "x4");
}

TEST(Entry, ErrorsNameTheFileTheLineAndWhatWasMeant) {
  struct Case {
    std::string toml;
    std::string want;
  };
  const Case cases[] = {
      {"title = ", "e.toml: line 1: "},
      {with("mechanism", "mechanim = \"x\""),
       "e.toml: line 5: unknown key 'mechanim' in a playbook entry; did you mean 'mechanism'?"},
      {with("mechanism", "zebra_crossing = 1"),
       "e.toml: line 5: unknown key 'zebra_crossing' in a playbook entry; known keys: title, "
       "bottleneck, when, explains, touches, effectiveness, prior, mechanism, source, needs, "
       "effect, commit, race, change"},
      {with("mechanism", ""), "e.toml: mechanism is missing"},
      {with("title", "title = 3"), "e.toml: line 1: title must be a non-empty string"},
      {with("bottleneck", "bottleneck = \"serail\""),
       "e.toml: line 2: unknown bottleneck 'serail'; did you mean 'serial'?"},
      {with("when", "when = [\"a ~ 3\"]"),
       "e.toml: line 3: condition 'a ~ 3' has the unknown operator '~' (known: < <= > >= == != not "
       "exists missing); write it like 'input_wait_share > 0.05' or 'knob.batch_size exists'"},
      {with("when", "when = [\"a > few\"]"),
       "e.toml: line 3: condition 'a > few' compares with 'few', which is not a number; write it "
       "like 'input_wait_share > 0.05' or 'knob.batch_size exists'"},
      {with("when", "when = \"a exists\""), "e.toml: line 3: when must be a list of strings"},
      {with("explains", ""),
       "e.toml: explains is missing: name the evidence of the time that the change can save"},
      {with("explains", "explains = [\"a\"]\nprior = 1.5"),
       "e.toml: line 5: prior must be a number above 0 and at most 1"},
      {with("batch_size", "batch_size = \"=acelerators\""),
       "e.toml: line 8: change.knobs.batch_size: unknown operation '=acelerators'; write x4, /2, "
       "+2, -1, =VALUE, =accelerators, =cpus, on or off; did you mean '=accelerators'?"},
      {with("batch_size", "batch_size = 4"),
       "e.toml: line 8: change.knobs.batch_size must be a quoted string"},
      {with("[change.knobs]", "[change.knob]"),
       "e.toml: line 7: unknown key 'knob' in change; did you mean 'knobs'?"},
      {with("[change.knobs]", "[change.resources]"),
       "e.toml: line 8: unknown key 'batch_size' in change.resources; known keys: accelerators"},
      {with("[change.knobs]", "[change.resources]\naccelerators = \"x2\"\n[change.knobs]"),
       "e.toml: line 8: change.resources.accelerators: 'x2' does not release accelerators; write "
       "/2, -1 or =1"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.toml);
    const auto entry = parse_entry(c.toml, "e.toml");
    ASSERT_FALSE(entry);
    EXPECT_EQ(entry.error().kind, Error::Kind::kBadInput);
    if (c.want.ends_with(": ")) {  // The rest is the TOML library's sentence.
      EXPECT_TRUE(entry.error().text.starts_with(c.want)) << entry.error().text;
    } else {
      EXPECT_EQ(entry.error().text, c.want);
    }
  }
}

TEST(Entry, AnInjectionSaysWhatItDoesToTheResultsAndWhatToCommit) {
  const std::string head(kGood.substr(0, kGood.find("[change")));
  const std::string change = "[change.inject]\nloader-workers = \"{cpus}\"\ngc-seldom = \"on\"\n";
  EXPECT_EQ(parse_entry(head + change, "e.toml").error().text, "e.toml: effect is missing");
  EXPECT_EQ(parse_entry(head + "effect = \"exact\"\n" + change, "e.toml").error().text,
            "e.toml: commit is missing");
  const std::string effects = "effect = \"slight\"\ncommit = \"Write it.\"\n";
  EXPECT_EQ(parse_entry(head + effects + change, "e.toml").error().text,
            "e.toml: line 7: effect must be exact, tolerant or semantic, not 'slight'");
  const auto entry =
      parse_entry(head + "effect = \"exact\"\ncommit = \"Write it.\"\n" + change, "e.toml");
  ASSERT_TRUE(entry) << entry.error().text;
  EXPECT_EQ(entry->effect, "exact");
  EXPECT_EQ(entry->commit, "Write it.");
  EXPECT_EQ(entry->inject,
            (std::map<std::string, std::string>{{"gc-seldom", ""}, {"loader-workers", "{cpus}"}}));
}

TEST(Entry, AnEntryWithoutAChangeIsRefused) {
  const std::string head(kGood.substr(0, kGood.find("[change")));
  EXPECT_EQ(parse_entry(head, "e.toml").error().text,
            "e.toml: change is missing: add a table such as [change.knobs]");
  EXPECT_EQ(parse_entry(head + "[change]\n", "e.toml").error().text,
            "e.toml: line 7: change is empty: add knobs, env, resources, wrap or inject");
}

TEST(Entry, TheExampleOfTheFormatPageParses) {
  const std::string page = read_file("docs/format/playbook.md");
  const std::size_t start = page.find("```toml\n");
  ASSERT_NE(start, std::string::npos);
  const std::string toml = page.substr(start + 8, page.find("```", start + 8) - start - 8);
  const auto entry = parse_entry(toml, "example.toml");
  ASSERT_TRUE(entry) << entry.error().text;
  EXPECT_EQ(entry->when.size(), 3U);
  EXPECT_EQ(entry->knobs.at("threads"), "=accelerators");
  EXPECT_EQ(entry->env.at("OMP_WAIT_POLICY"), "passive");
  EXPECT_EQ(entry->resources.at("accelerators"), "/2");
  EXPECT_EQ(entry->wrap.front(), "numactl");
  EXPECT_EQ(entry->needs.front(), "numactl");
  EXPECT_EQ(entry->touches.front(), "low_share");
}

TEST(Condition, HoldsOrSaysWithWhichNumber) {
  struct Case {
    std::string text;
    bool want;
    std::string because;
  };
  const Case cases[] = {
      {"wait > 0.05", true, "wait 0.31"},
      {"wait < 0.05", false, "condition wait < 0.05 does not hold (0.31)"},
      {"wait >= 0.31", true, "wait 0.31"},
      {"wait <= 0.3", false, "condition wait <= 0.3 does not hold (0.31)"},
      {"wait == 0.31", true, "wait 0.31"},
      {"wait != 0.31", false, "condition wait != 0.31 does not hold (0.31)"},
      {"wait exists", true, "wait 0.31"},
      {"wait missing", false, "condition wait missing does not hold (0.31)"},
      {"sync > 0", false, "condition sync > 0 does not hold (unknown)"},
      {"sync != 0", false, "condition sync != 0 does not hold (unknown)"},
      {"sync exists", false, "condition sync exists does not hold (unknown)"},
      {"sync missing", true, ""},
  };
  model::Profile profile;
  profile.evidence["wait"] = 0.31;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const auto condition = parse_condition(c.text);
    ASSERT_TRUE(condition);
    EXPECT_EQ(describe(*condition), c.text);
    Entry entry;
    entry.when = {*condition};
    std::string because;
    EXPECT_EQ(applies(entry, profile, because), c.want);
    EXPECT_EQ(because, c.because);
  }
}

TEST(Operation, ArithmeticStaysWithinBounds) {
  struct Case {
    std::string operation;
    double present;
    Bounds bounds;
    std::optional<double> want;
  };
  const Case cases[] = {
      {"x4", 8, {}, 32},         {"x4", 8, {{}, 20}, 20}, {"x4", 20, {{}, 20}, {}},
      {"x4", 40, {{}, 20}, {}},  // Never against its direction.
      {"x4", 0, {}, {}},         {"x1.5", 5, {}, 7},      {"x2", 0.1, {}, 0.2},
      {"x0.5", 8, {{6}, {}}, 6}, {"/2", 5, {}, 2},        {"/2", 1, {}, {}},
      {"/16", 8, {}, 1},         {"/4", 8, {{4}, {}}, 4}, {"+2", 0, {}, 2},
      {"+2", 3, {{}, 4}, 4},     {"-1", 1, {}, 0},        {"-1", 0, {}, {}},
      {"-3", 4, {{2}, {}}, 2},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(fmt::format("{} of {}", c.operation, c.present));
    const auto operation = parse_operation(c.operation);
    ASSERT_TRUE(operation);
    EXPECT_EQ(calculate(*operation, c.present, c.bounds), c.want);
  }
}

TEST(Operation, WhatIsNoOperationIsRefused) {
  for (const std::string text : {"", "=", "x", "x0", "x-2", "4", "*4", "/0", "xinf", "maybe"}) {
    EXPECT_FALSE(parse_operation(text)) << text;
  }
}

// Names in the evidence page: `name` in back quotes; `phase.<name>.share` stands for all phases.
bool is_documented(const std::string& name, const std::string& page) {
  if (name.starts_with("phase.")) return page.find("`phase.") != std::string::npos;
  if (name.starts_with("env.")) return true;  // Of the spec, not of the profile: playbook.md.
  if (name.starts_with("knob.")) return page.find("`knob.") != std::string::npos;
  if (name.starts_with("waits.") && name.find('.', 6) != std::string::npos) {
    return page.find("`waits.<role>.") != std::string::npos;
  }
  return page.find("`" + name + "`") != std::string::npos;
}

TEST(Playbook, EveryShippedEntryIsComplete) {
  const std::vector<Entry> entries = shipped();
  EXPECT_GE(entries.size(), 30U);
  std::set<std::string> titles;
  for (const Entry& entry : entries) {
    SCOPED_TRACE(entry.id);
    EXPECT_FALSE(entry.title.empty());
    EXPECT_TRUE(titles.insert(entry.title).second) << "two entries have this title";
    EXPECT_NE(entry.bottleneck, model::Bottleneck::kUnknown);
    EXPECT_GE(entry.mechanism.size(), 40U);
    EXPECT_TRUE(entry.mechanism.ends_with('.'));
    EXPECT_FALSE(entry.source.empty());
    EXPECT_GE(entry.when.size(), 1U);
    EXPECT_GE(entry.knobs.size() + entry.env.size() + entry.resources.size() + entry.wrap.size() +
                  entry.inject.size(),
              1U);
    for (const auto& [fix, value] : entry.inject) {
      const std::string code = AMDAHL_SOURCE_DIR "/playbook/inject/" + fix + "/fix.";
      EXPECT_NE(std::filesystem::exists(code + "py"), std::filesystem::exists(code + "cpp")) << fix;
    }
    EXPECT_LE(entry.prior, 0.5) << "nothing known is more likely than not on a new job";
    for (const std::string& name : entry.explains) {
      EXPECT_TRUE(name.ends_with("share")) << name << " is not a share of the time";
    }
  }
}

TEST(Playbook, EveryFileIsCompiledIn) {
  std::set<std::string> files;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(AMDAHL_SOURCE_DIR "/playbook")) {
    if (file.path().extension() == ".toml") files.insert(file.path().stem());
  }
  std::set<std::string> ids;
  for (const Entry& entry : shipped()) ids.insert(entry.id);
  EXPECT_EQ(ids, files);
}

TEST(Playbook, EvidenceIsDocumented) {
  const std::string page = read_file("docs/format/evidence.md");
  ASSERT_FALSE(page.empty()) << "docs/format/evidence.md is not there";
  for (const Entry& entry : shipped()) {
    SCOPED_TRACE(entry.id);
    std::vector<std::string> names = entry.explains;
    names.insert(names.end(), entry.touches.begin(), entry.touches.end());
    for (const Condition& condition : entry.when) names.push_back(condition.evidence);
    for (const std::string& name : names) EXPECT_TRUE(is_documented(name, page)) << name;
  }
}

TEST(Playbook, EveryBottleneckHasAnEntry) {
  std::set<model::Bottleneck> covered;
  for (const Entry& entry : shipped()) covered.insert(entry.bottleneck);
  EXPECT_EQ(covered.size(), static_cast<std::size_t>(model::Bottleneck::kUnknown));
}

TEST(Playbook, WhatChangesNumbersNamesItsGuard) {
  for (const Entry& entry : shipped()) {
    const bool changes_numbers =
        entry.knobs.contains("precision") || entry.knobs.contains("validation_every") ||
        entry.knobs.contains("batch_size") || entry.bottleneck == model::Bottleneck::kCompute;
    if (!changes_numbers) continue;
    EXPECT_NE(entry.mechanism.find("quality metric"), std::string::npos) << entry.id;
  }
}

}  // namespace
}  // namespace amdahl::hypothesize
