#include "scan/family.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "scan/families.h"
#include "scan/fleet_usage.h"

namespace amdahl::scan {
namespace {

Recogniser recogniser(std::vector<FamilyRule> rules = {}) {
  auto made = Recogniser::make(rules);
  EXPECT_TRUE(made) << made.error().text;
  return *std::move(made);
}

std::string family_of(const JobTraits& job) {
  Recogniser some = recogniser();
  return some.families()[some.of(job)].name;
}

TEST(Family, WhatChangesFromRunToRunIsAStar) {
  struct Case {
    std::string_view name;
    std::string_view want;
  };
  constexpr Case kCases[] = {
      {"train_20240501_lr1e-4", "train_*_lr*"},
      {"train_2024-05-01T12:30:05_lr0.001", "train_*_lr*"},
      {"sweep-seed42-fold3", "sweep-seed*-fold*"},
      {"exp_7f9c4d5b8e_final", "exp_*_final"},
      {"550e8400-e29b-41d4-a716-446655440000", "*"},
      {"lr1e4_bs32", "lr*_bs*"},
      {"train[17]", "train[*]"},
      {"/home/u/runs/42/train.sh", "train.sh"},
      {"tdir3596(CREUTZBETA_1Nr11457)", "tdir*(CREUTZBETA_*)"},
      {"tractography_dwi_1700832_20220404p17w03s13", "tractography_dwi_*"},
      {"openb-pod-0042", "openb-pod-*"},
      {"resnet50", "resnet50"},
      {"llama2-7b-bf16", "llama2-7b-bf16"},
      {"llama7b-ckpt-0a1b2c3d4e", "llama7b-ckpt-*"},
      {"llama70b_sft", "llama70b_sft"},
      {"Qwen2-72B-opt350m", "Qwen2-72B-opt350m"},
      {"mixtral8x7b-8x22B", "mixtral8x7b-8x22B"},
      {"run12b-1920x1080", "run*b-*"},
      {"ResNet101_v2_run12", "ResNet101_v2_run*"},
      {"uio-transcription-job", "uio-transcription-job"},
      {"", ""},
      {"///", ""},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(pattern_of(c.name), c.want) << c.name;
  }
}

TEST(Family, NameUserAndSizeMakeIt) {
  EXPECT_EQ(family_of({.name = "train_1", .user = "u1", .accelerators = 8}), "train.u1.x8");
  EXPECT_EQ(family_of({.name = "train_2", .user = "u1", .accelerators = 5}), "train.u1.x8");
  EXPECT_EQ(family_of({.name = "train_2", .user = "u2", .accelerators = 8}), "train.u2.x8");
  EXPECT_EQ(family_of({.name = "train_2", .user = "u1", .accelerators = 1}), "train.u1.x1");
  EXPECT_EQ(family_of({.name = "Train", .user = "u1", .accelerators = 0.5}), "train.u1.share");
  EXPECT_EQ(family_of({.script = "python -u /x/fit.py --lr 3", .user = "u", .accelerators = 1}),
            "fit-py.u.x1");
  EXPECT_EQ(family_of({.name = "job", .script = "/x/fit_3.sh", .accelerators = 2}),
            "job.fit-sh.x2");
  EXPECT_EQ(family_of({.user = "u", .accelerators = 4}), "unnamed.u.x4");
}

TEST(Family, OtherLettersThanAsciiTellFamiliesApart) {
  const std::vector<JobTraits> jobs = {
      {.name = "训练", .user = "u", .accelerators = 1},
      {.name = "评估", .user = "u", .accelerators = 1},
      {.name = "обучение", .user = "u", .accelerators = 1},
      {.name = "größe-a", .user = "ä", .accelerators = 1},
      {.name = "größe-a", .user = "ö", .accelerators = 1},
      {.name = "gräße-a", .user = "ä", .accelerators = 1},
      {.user = "u", .accelerators = 1},
  };
  std::set<std::string> names;
  for (const JobTraits& job : jobs) names.insert(family_of(job));
  EXPECT_EQ(names.size(), jobs.size());
  EXPECT_EQ(family_of({.name = "训练_1", .user = "u", .accelerators = 1}),
            family_of({.name = "训练_2", .user = "u", .accelerators = 1}));
  for (const std::string& name : names) {
    EXPECT_TRUE(std::ranges::all_of(name, [](char c) { return c > ' ' && c < 127; })) << name;
  }
}

TEST(Family, WhatTheJobSaysWins) {
  Recogniser some = recogniser({{"train", "by-rule"}});
  EXPECT_EQ(some.families()[some.of({.family = "mine", .name = "train"})].name, "mine");
  EXPECT_EQ(some.families()[some.of({.name = "train"})].name, "by-rule");
}

TEST(Family, RulesTakeGroupsAndSpanUsersAndSizes) {
  Recogniser some = recogniser({{"^(\\w+)-transcription", "transcribe-\\1"}, {"\\.py", "python"}});
  const auto id = some.of({.name = "uio-transcription-job", .user = "a", .accelerators = 1});
  EXPECT_EQ(some.of({.name = "uio-transcription-7", .user = "b", .accelerators = 2}), id);
  EXPECT_EQ(some.families()[id].name, "transcribe-uio");
  EXPECT_EQ(why(some.families()[id]),
            "jobs that match ^(\\w+)-transcription (rule 1 of the configuration), 1 to 2 "
            "accelerators");
  EXPECT_EQ(some.families()[some.of({.name = "x", .script = "run.py"})].name, "python");
}

TEST(Family, SaysWhyWhateverTheOrder) {
  const JobTraits jobs[] = {{.name = "train_7_lr1e-3", .user = "u1", .accelerators = 8},
                            {.name = "train-8-lr1e-4", .user = "u1", .accelerators = 6}};
  Recogniser forth = recogniser();
  Recogniser back = recogniser();
  const auto a = forth.of(jobs[0]);
  EXPECT_EQ(forth.of(jobs[1]), a);
  back.of(jobs[1]);
  back.of(jobs[0]);
  EXPECT_EQ(why(forth.families()[a]), "jobs named train-*-lr*, user u1, 6 to 8 accelerators");
  EXPECT_EQ(why(back.families()[0]), why(forth.families()[a]));
}

TEST(Family, NamesCanBeAdopted) {
  const auto fit = [](const std::string& name) {
    return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") == std::string::npos &&
           name.front() != '.' && name.front() != '-' && name.front() != '_';
  };
  for (const std::string_view name :
       {"*", "..", "Übung 3", "a/b/", "-x-", "_", "42", "[1]", "tdir3596(CREUTZBETA_1Nr11457)"}) {
    const std::string family = family_of({.name = name, .user = "Ü.x", .accelerators = 1});
    EXPECT_TRUE(fit(family)) << family;
  }
}

TEST(Family, JobsOfAScanGetTheirFamilies) {
  FleetUsage usage;
  const auto add = [&](std::string_view name, std::string_view user, float accelerators,
                       std::string_view family = {}) {
    FleetJob job;
    job.family = usage.words.intern(family);
    job.name = usage.words.intern(name);
    job.user = usage.words.intern(user);
    job.accelerators = accelerators;
    usage.jobs.push_back(job);
  };
  for (int i = 0; i < 3000; ++i) add("train_" + std::to_string(i), i % 2 ? "a" : "b", 8);
  add("train_7", "a", 5);
  add("train_7", "a", 1);
  add("train_7", "a", 1, "mine");
  const Families families = families_of(usage, recogniser());
  ASSERT_EQ(families.all.size(), 4U);
  EXPECT_EQ(why(families.all[0]), "jobs named train_*, user b, 8 accelerators");
  EXPECT_EQ(why(families.all[1]), "jobs named train_*, user a, 5 to 8 accelerators");
  EXPECT_EQ(why(families.all[2]), "jobs named train_*, user a, 1 accelerator");
  EXPECT_EQ(why(families.all[3]), "jobs recorded as family mine, 1 accelerator");
  ASSERT_EQ(families.of_job.size(), usage.jobs.size());
  for (std::size_t i = 0; i < 3000; ++i) ASSERT_EQ(families.of_job[i], i % 2);
  EXPECT_EQ(families.of_job[3000], 1U);
  EXPECT_EQ(families.of_job[3001], 2U);
  EXPECT_EQ(families.of_job[3002], 3U);
  EXPECT_EQ(jobs_of_other_sizes(families), (std::vector<std::uint32_t>{0, 1, 1501, 0}));
  EXPECT_EQ(why_alone(families.all[2], 0), "the only one of its name and user");
  EXPECT_EQ(why_alone(families.all[2], 1501), "1501 jobs of its name and user in other sizes");
  EXPECT_EQ(why_alone(families.all[3], 0), "");
}

TEST(Family, ABrokenRuleIsNamed) {
  const auto text = [](FamilyRule rule) {
    const std::vector<FamilyRule> rules{{"ok", "ok"}, std::move(rule)};
    return Recogniser::make(rules).error().text;
  };
  EXPECT_EQ(text({"(", "x"}),
            "families: rule 2: '(' is not a regular expression (RE2 syntax): missing ): (");
  EXPECT_EQ(text({"a", ""}), "families: rule 2: the family's name is empty");
  EXPECT_EQ(text({"a", "\\1"}),
            "families: rule 2: Rewrite schema requests 1 matches, but the regexp only has 0 "
            "parenthesized subexpressions.");
}

}  // namespace
}  // namespace amdahl::scan
