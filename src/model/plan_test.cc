#include "model/plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "model/change_testing.h"
#include "model/effect.h"

namespace amdahl::model {
namespace {

Spec planned_job() {
  Spec spec;
  spec.family = "f";
  spec.command = {"python3",  "-u",    "train.py", "--batch", "8",
                  "--lr=0.1", "--amp", "data",     "opt.k=3"};
  spec.workdir = "/w";
  spec.env = {{"OMP_NUM_THREADS", "4"}, {"MODE", "Fast"}};
  spec.accelerators = 4;
  spec.knobs["batch_size"] = {.name = "batch_size",
                              .arg = "--batch",
                              .aliases = {"-b", "--bs"},
                              .env = "",
                              .config = "",
                              .value = "8",
                              .min = {},
                              .max = {},
                              .on = "",
                              .off = ""};
  spec.knobs["log_every"] = {.name = "log_every",
                             .arg = "--log-every",
                             .aliases = {},
                             .env = "",
                             .config = "",
                             .value = "10",
                             .min = {},
                             .max = {},
                             .on = "",
                             .off = ""};
  spec.knobs["fsync"] = {.name = "fsync",
                         .arg = "",
                         .aliases = {},
                         .env = "",
                         .config = "c.json#io.fsync",
                         .value = "1",
                         .min = {},
                         .max = {},
                         .on = "",
                         .off = ""};
  return spec;
}

TEST(Plan, FlagsAreSetInTheirPlaceAndSpelling) {
  struct Case {
    const char* name;
    std::vector<std::string> command;
    Change change;
    const char* want;
  };
  const Case cases[] = {
      {"apart", {"p", "--batch", "8", "x"}, args({{"--batch", "32"}}), "p --batch 32 x"},
      {"joined", {"p", "--batch=8", "x"}, args({{"--batch", "32"}}), "p --batch=32 x"},
      {"by an alias", {"p", "-b", "8", "x"}, args({{"--batch", "32"}}), "p -b 32 x"},
      {"alias given", {"p", "--batch", "8"}, args({{"-b", "32"}}), "p --batch 32"},
      {"short and joined", {"p", "-b8", "x"}, args({{"--batch", "32"}}), "p -b32 x"},
      {"short, no number", {"p", "-b8", "x"}, args({{"-b", "auto"}}), "p -b auto x"},
      {"absent", {"p", "x"}, args({{"-b", "32"}}), "p x --batch 32"},
      {"absent, with the rest", {"p", "--", "x"}, args({{"--n", "3"}}), "p --n 3 -- x"},
      {"twice", {"p", "-b", "1", "x", "--batch=2"}, args({{"--batch", "3"}}), "p -b 3 x"},
      {"bare", {"p", "x"}, args({{"--amp", ""}}), "p x --amp"},
      {"bare and there", {"p", "--amp", "x"}, args({{"--amp", ""}}), "p --amp x"},
      {"away", {"p", "--batch", "8", "x"}, args({{"--batch", std::nullopt}}), "p x"},
      {"joined away", {"p", "--lr=8", "x"}, args({{"--lr", std::nullopt}}), "p x"},
      {"bare away", {"p", "x", "--amp"}, args({{"--amp", std::nullopt}}), "p x"},
      {"bare away before a flag", {"p", "--amp", "-x"}, args({{"--amp", std::nullopt}}), "p -x"},
      {"absent away", {"p", "x"}, args({{"--amp", std::nullopt}}), "p x"},
      {"a longer name is another flag",
       {"p", "--batch-size", "8"},
       args({{"--batch", "2"}}),
       "p --batch-size 8 --batch 2"},
      {"negative value", {"p", "--lr", "-1"}, args({{"--lr", "-2"}}), "p --lr -2"},
      {"value like a flag", {"p"}, args({{"--opt", "-x"}}), "p --opt=-x"},
      {"in one word", {"p"}, args({{"--opt=3", ""}}), "p --opt 3"},
      {"short, in one word", {"p", "--batch", "8"}, args({{"-b32", ""}}), "p --batch 32"},
      {"a blank is kept", {"p"}, args({{"--opt= 3 ", ""}}), "p --opt  3 "},
      {"override", {"p", "opt.k=3"}, args({{"opt.k", "4"}}), "p opt.k=4"},
      {"override of one letter", {"p", "k=3"}, args({{"k", "auto"}}), "p k=auto"},
      {"override absent", {"p"}, args({{"opt.k", "4"}}), "p opt.k=4"},
      {"override away", {"p", "opt.k=3"}, args({{"opt.k", std::nullopt}}), "p"},
      {"the program is no flag", {"--batch", "x"}, args({{"--batch", "4"}}), "--batch x --batch 4"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Spec spec = planned_job();
    spec.command = c.command;
    const auto plan = make_plan(spec, c.change);
    EXPECT_EQ(plan ? join(plan->argv, " ") : plan.error().text, c.want);
  }
}

TEST(Plan, EnvironmentWrapAndResources) {
  Change change = env({{"MODE", std::nullopt}, {"NEW", "1"}, {"OMP_NUM_THREADS", "2"}});
  change.wrap = {"numactl", "--interleave=all"};
  change.accelerators = 1;
  change.config = {{"c.json#io.fsync", "0"}};
  const auto plan = make_plan(planned_job(), change);
  ASSERT_TRUE(plan) << plan.error().text;
  EXPECT_EQ(plan->argv[0], "numactl");
  EXPECT_EQ(plan->argv[2], "python3");
  EXPECT_EQ(plan->env,
            (std::map<std::string, std::string>{{"NEW", "1"}, {"OMP_NUM_THREADS", "2"}}));
  EXPECT_EQ(plan->unset, std::vector<std::string>{"MODE"});
  EXPECT_EQ(plan->accelerators, 1);
  EXPECT_EQ(plan->cpus, 1);
  EXPECT_EQ(plan->config.at("c.json#io.fsync"), "0");
  EXPECT_EQ(plan->workdir, "/w");
}

TEST(Plan, CpusFollowTheAcceleratorsWhereTheyAreThem) {
  struct Case {
    int cpus;
    std::optional<int> accelerators;
    int want;
  };
  for (const Case& c : {Case{0, {}, 4}, Case{0, 2, 2}, Case{4, 2, 2}, Case{4, {}, 4}, Case{8, 2, 8},
                        Case{2, {}, 2}}) {
    Spec spec = planned_job();
    spec.cpus = c.cpus;
    Change change;
    change.accelerators = c.accelerators;
    EXPECT_EQ(make_plan(spec, change)->cpus, c.want) << c.cpus;
  }
}

TEST(Plan, RefusesWhatTheSpecDoesNotHave) {
  const auto error = [](const Change& change) {
    const auto plan = make_plan(planned_job(), change);
    return plan ? "" : plan.error().text;
  };
  Change change;
  change.patch = "--- a\n+++ b\n";
  EXPECT_EQ(error(change),
            "the change is a patch, but f has no repo: add repo = \"...\" to its spec");
  change = {};
  change.needs_build = true;
  EXPECT_EQ(error(change),
            "the change needs a build, but f has no build command: add build = [...] to its spec");
  change = {};
  change.accelerators = 0;
  EXPECT_EQ(error(change), "the change asks for 0 accelerators; at least 1 is required");
  change = {};
  change.config["c.json"] = "1";
  EXPECT_EQ(error(change), "the change sets \"c.json\": write it as \"file.json#key.path\"");
  EXPECT_EQ(error(env({{"A=B", "1"}})), "the change sets a variable with the invalid name \"A=B\"");
  EXPECT_EQ(error(args({{"--batch", std::string("2\0x", 3)}})),
            "--batch: a zero byte ends the text; leave it out");
  EXPECT_EQ(error(env({{"MODE", std::string("Fast\0", 5)}})),
            "MODE: a zero byte ends the text; leave it out");
  EXPECT_EQ(error(args({{"--amp", std::nullopt}})),
            "cannot remove --amp: \"data\" may or may not be its value; add a knob for the flag "
            "with its value to the spec");
  EXPECT_EQ(error(args({{"--batch", "2"}, {"-b", "3"}})),
            "the change sets --batch twice: to \"2\" and, as -b, to \"3\"");
}

TEST(Plan, KeysDifferByFamilyAndHardware) {
  const Change change = args({{"--batch", "32"}});
  Spec other = planned_job();
  other.family = "g";
  EXPECT_NE(key(planned_job(), {}, change, "cpu"), key(planned_job(), {}, change, "gpu"));
  EXPECT_NE(key(planned_job(), {}, change, "cpu"), key(other, {}, change, "cpu"));
}

TEST(Plan, WhatTheBaselineHasIsNoChange) {
  Change baseline = args({{"--batch", "16"}, {"--amp2", ""}});
  baseline.env = {{"X", "1"}, {"Y", std::nullopt}};
  baseline.accelerators = 2;
  baseline.wrap = {"nice"};
  baseline.config = {{"a#b", "2.0"}};
  baseline.patch = "--- a\n+++ b\n";
  EXPECT_TRUE(is_empty(canonical(planned_job(), baseline, baseline)));
  // Back to what the spec has is a change again.
  EXPECT_EQ(canonical(planned_job(), baseline, args({{"-b", "8"}})), args({{"--batch", "8"}}));
  Change four;
  four.accelerators = 4;
  EXPECT_EQ(canonical(planned_job(), baseline, four), four);
  EXPECT_TRUE(is_empty(canonical(planned_job(), {}, four)));
}

TEST(Plan, WhatRunsIsWhatWasWritten) {
  Change change = args({{"-b", "032"}, {"--lr", "1e-3"}, {"--tag", " v1.0 "}, {"--py=3.10", ""}});
  change.env = {{"PYTHON_VERSION", "3.10"}, {"ZIP", "007"}, {"OMP_WAIT_POLICY", "PASSIVE"}};
  change.config = {{"c.json#io.fsync", "00"}};
  const Change runs = by_first_name(planned_job(), change);
  const auto plan = make_plan(planned_job(), runs);
  ASSERT_TRUE(plan) << plan.error().text;
  EXPECT_EQ(join(plan->argv, "|"),
            "python3|-u|train.py|--batch|032|--lr=1e-3|--amp|data|opt.k=3|--py|3.10|--tag| v1.0 ");
  EXPECT_EQ(plan->env.at("PYTHON_VERSION"), "3.10");
  EXPECT_EQ(plan->env.at("ZIP"), "007");
  EXPECT_EQ(plan->env.at("OMP_WAIT_POLICY"), "PASSIVE");
  EXPECT_EQ(plan->config.at("c.json#io.fsync"), "00");
}

TEST(Plan, WhatASecretWasTakenOutOfDoesNotRun) {
  const char* want =
      "a secret in this command, environment or patch was replaced by [redacted], so it cannot "
      "run: put the secret into the environment and write {env:NAME} instead";
  const auto plan = make_plan(planned_job(), args({{"--api-token", "[redacted]"}}));
  EXPECT_EQ(plan ? "" : plan.error().text, want);
  Spec spec = planned_job();
  spec.command.emplace_back("--password=[redacted]");
  const auto baseline = make_plan(spec, {});
  EXPECT_EQ(baseline ? "" : baseline.error().text, want);
  EXPECT_TRUE(make_plan(planned_job(), args({{"--api-token", "{env:API_TOKEN}"}})));
}

TEST(Plan, CurrentValueOfAKnob) {
  const Spec spec = planned_job();
  const Knob& batch = spec.knobs.at("batch_size");
  EXPECT_EQ(current_value(spec, {}, batch), "8");
  EXPECT_EQ(current_value(spec, args({{"-b", "16"}}), batch), "16");
  EXPECT_EQ(current_value(spec, args({{"--batch", std::nullopt}}), batch), std::nullopt);
  EXPECT_EQ(current_value(spec, {}, spec.knobs.at("log_every")), "10");
  EXPECT_EQ(current_value(spec, {}, spec.knobs.at("fsync")), "1");
}

TEST(Plan, DigestSeesEverything) {
  const Plan plan = *make_plan(planned_job(), {});
  const std::string before = digest(plan);
  EXPECT_EQ(before.size(), 16U);
  EXPECT_EQ(digest(*make_plan(planned_job(), {})), before);
  const auto differs = [&](void (*change)(Plan&)) {
    Plan other = plan;
    change(other);
    return digest(other) != before;
  };
  EXPECT_TRUE(differs([](Plan& p) { p.argv.push_back(""); }));
  EXPECT_TRUE(differs([](Plan& p) { p.env["A"] = ""; }));
  EXPECT_TRUE(differs([](Plan& p) { p.unset.push_back("A"); }));
  EXPECT_TRUE(differs([](Plan& p) { p.workdir += "x"; }));
  EXPECT_TRUE(differs([](Plan& p) { ++p.accelerators; }));
  EXPECT_TRUE(differs([](Plan& p) { ++p.cpus; }));
  EXPECT_TRUE(differs([](Plan& p) { p.config["a#b"] = "c"; }));
  EXPECT_TRUE(differs([](Plan& p) { p.patch = "x"; }));
  EXPECT_TRUE(differs([](Plan& p) { p.needs_build = true; }));
}

}  // namespace
}  // namespace amdahl::model
