#include "model/codec.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace amdahl::model {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Change odd_change() {
  Change change;
  change.env = {{"ä", "ß\n"}, {"AWAY", std::nullopt}, {"EMPTY", ""}};
  change.args = {{"--x", ""}, {"-y", std::nullopt}};
  change.config = {{"a.json#b/c~d", ""}};
  change.accelerators = 3;
  change.wrap = {"", "nice"};
  change.patch = "--- a\n";
  change.needs_build = true;
  return change;
}

Comparison odd_comparison() {
  Comparison comparison;
  comparison.answer = Answer::kWorse;
  comparison.pairs = 7;
  comparison.lower = -kInf;
  comparison.upper = kInf;
  comparison.effect = kNan;
  comparison.shrunk = -0.0;
  comparison.log_e_win = 1e-308;
  comparison.sigma = 0.1 + 0.2;
  comparison.because = "7 pairs … \"so\"";
  return comparison;
}

Receipt odd_receipt() {
  Receipt receipt;
  receipt.id = "r-1/A";
  receipt.family = "f";
  receipt.argv = {"", "ä", "a b"};
  receipt.cpus = {0, 3};
  receipt.started = Nanos{1'700'000'000'123'456'789};
  receipt.wall = Nanos{1};
  receipt.peak_rss_bytes = std::numeric_limits<std::int64_t>::max();
  receipt.ending = Ending::kTimeLimit;
  receipt.code = -3;
  receipt.work = 0.0;
  receipt.metrics = {{"loss", kNan}, {"", -kInf}, {"x", 0.1}};
  receipt.phases = {{"start", Nanos{0}, Nanos{5}}};
  receipt.report_problems = {"line 3: not JSON"};
  receipt.utilisation = {Nanos{1000}, "CPU slot", {{0.0F, 0.333F, 1.0F, NAN}, {}}};
  receipt.outputs = {{"out/ö", "", 0}, {"b", "ab", 12}};
  receipt.noise.load1 = kNan;
  receipt.hosts = {{"n1", "b", "h", {}, Nanos{5}, 7, {{3, Nanos{4}, {1.5F, NAN}}}}};
  receipt.stdout_tail = std::string("nul \0 inside", 12);
  return receipt;
}

PairFact odd_pair() {
  PairFact pair;
  pair.reservation = "r-1";
  pair.index = 3;
  pair.purpose = Purpose::kTopUp;
  pair.target = "order";
  pair.variant_second = true;
  pair.a.work = 3;
  pair.a.metric = kNan;
  pair.a.quality = {{"recall", 0.5}};
  pair.b.failed = true;
  pair.b.failure = "exit 1";
  pair.voided = true;
  return pair;
}

Spec odd_spec() {
  Spec spec;
  spec.family = "f";
  spec.command = {"run"};
  spec.memory_limit_mb = 0.5;
  spec.fixed_work = kInf;
  spec.outputs = {{"a", false}};
  spec.layout = {2, 4};
  spec.quality = {{"q", 0.25, false}};
  Knob knob;
  knob.name = "threads";
  knob.arg = "-t";
  knob.aliases = {"--threads"};
  knob.min = -1;
  spec.knobs["threads"] = knob;
  return spec;
}

Profile odd_profile() {
  Profile profile;
  profile.id = "p-1";
  profile.family = "f";
  profile.evidence = {{"input_wait_share", kNan}};
  profile.causes = {{"lifecycle.startup", "start-up", Bottleneck::kLifecycle, 1.5, 0.2, kInf, "…"}};
  profile.bottleneck = Bottleneck::kWakeups;
  profile.missing = {"perf: not permitted"};
  return profile;
}

Hypothesis odd_hypothesis() {
  Hypothesis hypothesis;
  hypothesis.id = "h-1";
  hypothesis.family = "f";
  hypothesis.bottleneck = Bottleneck::kInput;
  hypothesis.change = odd_change();
  hypothesis.origin = {"playbook", "larger-batches"};
  hypothesis.predicted_gain = 0.3;
  return hypothesis;
}

// The text of the decoded is the text of the original: nothing was lost on the way.
template <class Noun>
Noun round_trip(const Noun& noun) {
  const std::string text = dump_json(encode(noun));
  const Result<Noun> again = decode_text<Noun>(text);
  EXPECT_TRUE(again) << (again ? "" : again.error().text);
  if (!again) return {};
  EXPECT_EQ(dump_json(encode(*again)), text);
  return *again;
}

TEST(Codec, EveryNounRoundTripsWithOddValues) {
  EXPECT_EQ(round_trip(odd_change()), odd_change());
  EXPECT_EQ(round_trip(Change{}), Change{});
  round_trip(odd_spec());
  round_trip(Plan{
      {"a", ""}, {{"A", "ä"}}, {"B"}, "/w", 2, 3, {{"a#b", "c"}}, {{"fix", "2"}}, "patch", true});
  round_trip(Plan{});
  round_trip(Receipt{});
  round_trip(odd_pair());
  round_trip(PairFact{});
  round_trip(odd_profile());
  round_trip(odd_hypothesis());
  Experiment experiment;
  experiment.id = "x-1";
  experiment.baseline_change = odd_change();
  experiment.registered = Nanos{-5};
  round_trip(experiment);
  round_trip(odd_comparison());
  round_trip(Finding{"order", Vote::kRefute, true, false, "because"});
  round_trip(Verdict{"h-1", "", VerdictKind::kNoEffect, "…", odd_comparison(), Nanos{9}});
  round_trip(Verdict{"h-1", "", VerdictKind::kAborted, "", std::nullopt, Nanos{}});
  round_trip(GatePacket{"x-1",
                        "h-1",
                        "f",
                        "claim",
                        odd_comparison(),
                        {{"order", Vote::kAgree, false, true, "b"}},
                        "diff",
                        1,
                        kNan,
                        "quiet hosts",
                        "type"});
  round_trip(GateDecision{true, "policy:demo", "why"});
  round_trip(StackResult{"f", 2, odd_comparison(), 1, 0.5, "images", Nanos{3}});
  round_trip(usage_of(odd_receipt(), "me", "/w"));
}

TEST(Codec, ValuesSurvive) {
  const Receipt receipt = round_trip(odd_receipt());
  EXPECT_EQ(receipt.started, odd_receipt().started);
  EXPECT_EQ(receipt.ending, Ending::kTimeLimit);
  EXPECT_EQ(receipt.work, 0.0);
  EXPECT_TRUE(std::isnan(receipt.metrics.at("loss")));
  EXPECT_EQ(receipt.metrics.at(""), -kInf);
  EXPECT_EQ(receipt.stdout_tail.size(), 12U);
  ASSERT_EQ(receipt.utilisation.accelerators.size(), 2U);
  EXPECT_FLOAT_EQ(receipt.utilisation.accelerators[0][1], 0.333F);
  EXPECT_TRUE(std::isnan(receipt.utilisation.accelerators[0][3]));

  const Comparison comparison = round_trip(odd_comparison());
  EXPECT_EQ(comparison.sigma, 0.1 + 0.2);
  EXPECT_TRUE(std::signbit(comparison.shrunk));
  EXPECT_EQ(comparison.upper, kInf);
}

TEST(Codec, HowItIsWritten) {
  EXPECT_EQ(dump_json(encode(Change{})), "{}");
  Change change;
  change.env = {{"A", std::nullopt}, {"B", "1"}};
  EXPECT_EQ(dump_json(encode(change)), R"({"env":{"A":null,"B":"1"}})");
  const Json receipt = encode(odd_receipt());
  EXPECT_EQ(receipt["wall_ns"], 1);
  EXPECT_EQ(receipt["ending"], "time limit");
  EXPECT_EQ(receipt["metrics"]["loss"], "nan");
  EXPECT_EQ(dump_json(receipt["utilisation"]["permille"]), "[[0,333,1000,null],[]]");
  EXPECT_EQ(encode(Verdict{})["comparison"], nullptr);
}

TEST(Codec, ErrorsNameTheField) {
  struct Case {
    const char* text;
    const char* want;
  };
  constexpr Case kReceipts[] = {
      {R"({"id":"r","family":"f","utilisation":{"interval_ns":"x"}})",
       "/utilisation/interval_ns: type must be integer, but is string"},
      {R"({"id":"r"})", "/family: is missing"},
      {R"({"family":"f"})", "/id: is missing"},
      {R"([])", "type must be object, but is array"},
      {R"({"id":"r","family":"f","cpus":[0,"1"]})", "/cpus/1: type must be integer, but is string"},
      {R"({"id":"r","family":"f","code":99999999999})",
       "/code: the number 99999999999 is out of range"},
      {R"({"id":"r","family":"f","wall_ns":1.5})", "/wall_ns: type must be integer, but is number"},
      {R"({"id":"r","family":"f","wall_ns":18446744073709551615})",
       "/wall_ns: the number 18446744073709551615 is out of range"},
      {R"({"id":"r","family":"f","ending":"exploded"})", "/ending: unknown name \"exploded\""},
      {R"({"id":"r","family":"f","metrics":{"loss":null}})",
       "/metrics/loss: type must be number, but is null"},
      {R"({"id":"r","family":"f","metrics":{"loss":"NaN"}})",
       "/metrics/loss: type must be number, but is string"},
      {R"({"id":"r","family":"f","phases":[{"start_ns":1}]})", "/phases/0/name: is missing"},
      {R"({"id":"r",)", "byte 11: "},
      {R"({"id":"r","family":"f","newer":[1]})", ""},
  };
  for (const Case& c : kReceipts) {
    const auto receipt = decode_text<Receipt>(c.text);
    const std::string got = receipt ? "" : receipt.error().text;
    if (std::string_view(c.want).starts_with("byte")) {
      EXPECT_TRUE(got.starts_with(c.want)) << got;
    } else {
      EXPECT_EQ(got, c.want) << c.text;
    }
  }
  EXPECT_EQ(decode_text<Finding>(R"({"check":"a"})").error().text, "/vote: is missing");
  EXPECT_EQ(decode_text<Profile>(R"({"id":"p","family":"f","bottleneck":"disk"})").error().text,
            "/bottleneck: unknown name \"disk\"");
  EXPECT_EQ(decode_text<Change>(R"({"args":{"-x":3}})").error().text,
            "/args/-x: type must be string, but is number");
}

TEST(Codec, TheSealBreaksWhenAnyValueChanges) {
  Receipt receipt = odd_receipt();
  EXPECT_FALSE(check_seal(receipt));
  seal(receipt);
  EXPECT_EQ(receipt.digest.size(), 64U);
  EXPECT_TRUE(check_seal(receipt));
  const std::string text = dump_json(encode(receipt));
  EXPECT_TRUE(check_seal(*decode_text<Receipt>(text)));

  int readable = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == '1' ? '2' : '1';
    const auto forged = decode_text<Receipt>(changed);
    if (!forged) continue;
    ++readable;
    // Only what says the same may keep the seal: the name of a field that has its default anyway.
    EXPECT_TRUE(!check_seal(*forged) || dump_json(encode(*forged)) == text) << changed;
  }
  EXPECT_GT(readable, 100);
}

TEST(Codec, ASealSurvivesBytesThatAreNoText) {
  Receipt receipt = odd_receipt();
  receipt.stderr_tail = "cut \xC3";
  receipt.utilisation.accelerators = {{0.12345F, 2.0F, INFINITY}};
  seal(receipt);
  EXPECT_TRUE(check_seal(*decode_text<Receipt>(dump_json(encode(receipt)))));
}

}  // namespace
}  // namespace amdahl::model
