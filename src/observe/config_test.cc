#include <algorithm>

#include <gtest/gtest.h>

#include "observe/config_format.h"

namespace amdahl::observe {
namespace {

// The changed text, or the error's.
std::string set(std::string_view suffix, const std::string& text, const Keys& keys) {
  const auto formats = config_formats();
  const auto row = std::ranges::find(formats, suffix, &ConfigFormat::suffix);
  const auto changed = row->set(text, keys);
  return changed ? *changed : "error: " + changed.error().text;
}

TEST(ConfigValue, KeepsTheTypeThatTheKeyHas) {
  struct Case {
    const char* text;
    ValueKind now;
    Value want;
  };
  const Case cases[] = {
      {"16", ValueKind::kWhole, std::int64_t{16}},
      {"16", ValueKind::kText, std::string("16")},
      {"2", ValueKind::kNumber, 2.0},
      {"0.5", ValueKind::kWhole, 0.5},
      {"1e-4", ValueKind::kNumber, 1e-4},
      {"0", ValueKind::kTruth, false},
      {"True", ValueKind::kTruth, true},
      {"maybe", ValueKind::kTruth, std::string("maybe")},
      {"auto", ValueKind::kWhole, std::string("auto")},
      {"true", ValueKind::kNull, true},
      {"7", ValueKind::kNull, std::int64_t{7}},
      {"null", ValueKind::kNull, nullptr},
      {"", ValueKind::kNull, std::string()},
      {"[1, 2]", ValueKind::kNull, std::string("[1, 2]")},
      {"18446744073709551615", ValueKind::kNull, 18446744073709551615.0},
  };
  for (const Case& c : cases) EXPECT_EQ(value_like(c.text, c.now), c.want) << c.text;
}

TEST(ConfigJson, OneKeyChangesAndTheRestStays) {
  const std::string text =
      R"({"lr": 1.0, "name": "8", "on": true, "list": [{"n": 1}, {"n": 2}],
          "big": 9007199254740993})";
  EXPECT_EQ(set(".json", text, {{"lr", "2"}, {"name", "16"}, {"list.1.n", "3"}, {"new", "4"}}),
            R"({
  "big": 9007199254740993,
  "list": [
    {
      "n": 1
    },
    {
      "n": 3
    }
  ],
  "lr": 2.0,
  "name": "16",
  "new": 4,
  "on": true
}
)");
}

TEST(ConfigToml, OneKeyChangesAndTheRestStays) {
  const std::string text = R"(# A comment.
title = "8"
start = 2024-05-01T07:32:00Z
day = 2024-05-01
mask = 0xff
rate = 0.30000000000000004
nothing = nan
[train]
batch = 8
lr = 1.0
shuffle = true
inline = { a = 1, b = "x" }
[[layers]]
size = 64
[[layers]]
size = 32
)";
  EXPECT_EQ(set(".toml", text,
                {{"train.batch", "32"},
                 {"train.lr", "2"},
                 {"train.shuffle", "false"},
                 {"train.inline.b", "1"},
                 {"layers.1.size", "16"},
                 {"day", "2024-06-02"},
                 {"train.new", "1.5"}}),
            R"(day = 2024-06-02
mask = 0xFF
nothing = nan
rate = 0.30000000000000004
start = 2024-05-01T07:32:00Z
title = '8'

[train]
batch = 32
inline = { a = 1, b = '1' }
lr = 2.0
new = 1.5
shuffle = false

[[layers]]
size = 64

[[layers]]
size = 16
)");
}

TEST(ConfigYaml, OneKeyChangesAndTheRestStays) {
  const std::string text = R"(# A comment.
name: "8"
mode: fast
base: &base
  lr: 1e-3
  when: 2024-05-01
train:
  <<: *base
  batch: 8
  dropout: 0.5
  shuffle: yes
  tag: !custom 7
  text: |
    two
    lines
layers: [64, 32]
none: ~
)";
  EXPECT_EQ(set(".yaml", text,
                {{"name", "16"},
                 {"mode", "1"},
                 {"train.batch", "32"},
                 {"train.dropout", "0"},
                 {"train.shuffle", "0"},
                 {"train.lr", "1e-5"},
                 {"layers.1", "16"},
                 {"none", "on"}}),
            R"(name: "16"
mode: "1"
base: &base
  lr: 1e-3
  when: 2024-05-01
train:
  <<: *base
  batch: 32
  dropout: 0.0
  shuffle: false
  tag: !custom 7
  text: |
    two
    lines
  lr: 1.0e-05
layers: [64, 16]
none: "on"
)");
  EXPECT_EQ(set(".yml", "a: {b: 'x'}\n", {{"a.b", "it's"}}), "a: {b: 'it''s'}\n");
  EXPECT_EQ(set(".yml", "ä: 1\n", {{"ö", "ü"}}), "ä: 1\nö: ü\n");
  EXPECT_EQ(set(".yml", "a: &x 1\nb: *x\n", {{"b", "2"}}), "a: &x 1\nb: 2\n");
}

TEST(ConfigFormats, SayWhatIsWrongAndWhere) {
  struct Case {
    const char* suffix;
    const char* text;
    const char* key;
    const char* want;
  };
  const Case cases[] = {
      {".json", R"({"a": {"b": 1}})", "x.b", "x.b: no key \"x\" in the file"},
      {".json", R"({"a": {"b": 1}})", "a.b.c", "a.b.c: \"b\" is a value, not a table"},
      {".json", R"({"a": {"b": 1}})", "a", "a: is an object: name a single value in it"},
      {".json", R"({"a": [1, 2]})", "a.2",
       "a.2: \"2\" is not an index of a list of 2 items (the first is 0)"},
      {".json", R"({"a": [1, 2]})", "a", "a: is a list: name a single value in it"},
      {".toml", "[a]\nb = 1\n", "x.b", "x.b: no key \"x\" in the file"},
      {".toml", "[a]\nb = 1\n", "a.b.c", "a.b.c: \"b\" is a value, not a table"},
      {".toml", "[a]\nb = 1\n", "a", "a: is a table: name a single value in it"},
      {".toml", "a = [1, 2]\n", "a.2",
       "a.2: \"2\" is not an index of a list of 2 items (the first is 0)"},
      {".toml", "a = 2024-05-01\n", "a", "a: is a date or time, but \"1\" is not"},
      {".yaml", "a:\n  b: 1\n", "x.b", "x.b: no key \"x\" in the file"},
      {".yaml", "a:\n  b: 1\n", "a.b.c", "a.b.c: \"b\" is a value, not a table"},
      {".yaml", "a:\n  b: 1\n", "a", "a: is a mapping: name a single value in it"},
      {".yaml", "a: [1, 2]\n", "a.2",
       "a.2: \"2\" is not an index of a list of 2 items (the first is 0)"},
      {".yaml", "a: &x {b: 1}\nc: *x\n", "c.b",
       "c.b: \"c\" is an alias (*x): replace it by its value first"},
      {".yaml", "a: &x 1\nc: *x\n", "a",
       "a: other keys are aliases of it (*x): replace the aliases by their values first"},
      {".yaml", "a: 1\n---\nb: 2\n", "a", "expected exactly one YAML document"},
      {".yaml", "", "a", "expected exactly one YAML document"},
      {".yaml", "a: [1\n", "a", "line 2, column 1: did not find expected ',' or ']'"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(set(c.suffix, c.text, {{c.key, "1"}}), std::string("error: ") + c.want);
  }
  EXPECT_TRUE(set(".json", "{\"a\": }", {{"a", "1"}}).starts_with("error: byte 7: "));
  EXPECT_TRUE(set(".toml", "a = \n", {{"a", "1"}}).starts_with("error: line 1, column 5: "))
      << set(".toml", "a = \n", {{"a", "1"}});
  EXPECT_EQ(set(".toml", "a = 1\n", {{"b", "null"}}), "error: b: TOML has no null");
}

}  // namespace
}  // namespace amdahl::observe
