#include <algorithm>

#include <gtest/gtest.h>

#include "base/text.h"
#include "dream/dream.h"

namespace amdahl::dream {
namespace {

using model::Bottleneck;

model::Knob knob(std::string name, std::string arg, std::string env, std::string value) {
  model::Knob result;
  result.name = std::move(name);
  result.arg = std::move(arg);
  result.env = std::move(env);
  result.value = std::move(value);
  return result;
}

// One worker feeds two slots, and there are knobs for what texts speak of.
model::Spec feed() {
  model::Spec spec;
  spec.family = "feed";
  spec.command = {"feed", "--workers", "1", "--threads", "2"};
  spec.accelerators = 2;
  spec.knobs["loader_workers"] = knob("loader_workers", "--workers", "", "1");
  spec.knobs["loader_workers"].max = 16;
  spec.knobs["batch_size"] = knob("batch_size", "", "FEED_BATCH", "8");
  spec.knobs["decoded_cache"] = knob("decoded_cache", "", "FEED_CACHE", "");
  spec.knobs["decoded_cache"].on = "{state}/decoded";
  return spec;
}

model::Cause cause(Bottleneck bottleneck, double share) {
  model::Cause result;
  result.bottleneck = bottleneck;
  result.share = share;
  return result;
}

model::Profile starved() {
  model::Profile result;
  result.id = "p-9";
  result.family = "feed";
  result.bottleneck = Bottleneck::kInput;
  result.evidence = {{"accelerators", 2},       {"idle_share", 0.3},   {"productive_share", 0.5},
                     {"input_wait_share", 0.3}, {"serial_share", 0.2}, {"compute_share", 0.4},
                     {"threads_per_cpu", 1.0}};
  result.causes = {cause(Bottleneck::kInput, 0.3), cause(Bottleneck::kContention, 0.2)};
  return result;
}

struct Family {
  model::Spec spec = feed();
  model::Change baseline{};
  model::Profile profile = starved();
};

Dreams read(const std::string& text, const Family& family = {}, const std::string& heading = "") {
  const auto playbook = hypothesize::embedded_playbook();
  EXPECT_TRUE(playbook);
  const Passage passage{"/notes/tuning.md", 10, heading, text};
  return from_passages(std::span(&passage, 1), *playbook,
                       {family.spec, family.baseline, family.profile, "cpu"});
}

std::vector<std::string> changes(const Dreams& dreams) {
  std::vector<std::string> result;
  for (const auto& idea : dreams.ideas) result.push_back(model::describe(idea.change));
  std::ranges::sort(result);
  return result;
}

// Why nothing came of it; the first reason.
std::string why_not(const Dreams& dreams) {
  if (!dreams.ideas.empty()) return "taken: " + model::describe(dreams.ideas[0].change);
  return dreams.left_out.empty() ? "" : dreams.left_out[0].because;
}

TEST(FromPassages, AVariableThatATextNames) {
  const Dreams dreams =
      read("It is slow.\nOn a shared host\nOMP_WAIT_POLICY=PASSIVE gave us 12 %.\n");
  ASSERT_EQ(changes(dreams), std::vector<std::string>{"OMP_WAIT_POLICY=PASSIVE"});
  const model::Hypothesis& idea = dreams.ideas[0];
  EXPECT_EQ(idea.origin.kind, "dream");
  EXPECT_EQ(idea.origin.ref, "/notes/tuning.md:12");
  EXPECT_EQ(idea.bottleneck, Bottleneck::kContention);
  EXPECT_EQ(idea.title, "OMP_WAIT_POLICY=PASSIVE");
  EXPECT_EQ(idea.mechanism,
            "/notes/tuning.md:12 says: \"On a shared host OMP_WAIT_POLICY=PASSIVE gave us 12 %.\"");
  EXPECT_DOUBLE_EQ(idea.predicted_gain, 0.2 * 0.2);
  EXPECT_LT(idea.prior, 0.15);
  EXPECT_EQ(idea.profile, "p-9");
}

TEST(FromPassages, WhatLoadersThatOversubscribeNeed) {
  const std::string text = "Set OMP_NUM_THREADS=1 when data loaders oversubscribe.";
  EXPECT_EQ(changes(read(text)), std::vector<std::string>{"OMP_NUM_THREADS=1"});
  Family input_only;
  input_only.profile.causes = {cause(Bottleneck::kInput, 0.3)};
  const Dreams by_its_words = read(text, input_only);
  ASSERT_EQ(changes(by_its_words), std::vector<std::string>{"OMP_NUM_THREADS=1"})
      << "the text says that loaders are what it is about";
  EXPECT_EQ(by_its_words.ideas[0].bottleneck, Bottleneck::kInput);
  EXPECT_EQ(why_not(read("OMP_NUM_THREADS=1 is a good default.", input_only)),
            "it addresses nothing that costs feed time (CPU contention)");
  EXPECT_EQ(changes(read("OMP_NUM_THREADS=1 is a good default.", input_only, "Data loaders")),
            std::vector<std::string>{"OMP_NUM_THREADS=1"})
      << "so does its heading";
}

TEST(FromPassages, AKnobSetToAValue) {
  const Dreams dreams = read("num_workers=4 / more loader workers cured input starvation");
  ASSERT_EQ(changes(dreams), std::vector<std::string>{"--workers 4"});
  const model::Hypothesis& idea = dreams.ideas[0];
  EXPECT_EQ(idea.title, "loader_workers=4");
  EXPECT_EQ(idea.origin.ref, "/notes/tuning.md:10");
  EXPECT_EQ(idea.bottleneck, Bottleneck::kInput);
  EXPECT_DOUBLE_EQ(idea.predicted_gain, 0.5 * 0.3) << "as the playbook has it of more workers";
  EXPECT_DOUBLE_EQ(idea.ceiling_share, 0.3);
  EXPECT_EQ(changes(read("We use --workers 4.")), std::vector<std::string>{"--workers 4"});
  EXPECT_EQ(changes(read("FEED_BATCH=64 is what it likes")),
            std::vector<std::string>{"FEED_BATCH=64"});
}

TEST(FromPassages, AVariableIsTheKnobWhereTheJobHasOne) {
  Family family;
  family.spec.knobs["threads"] = knob("threads", "--threads", "", "2");
  EXPECT_EQ(changes(read("OMP_NUM_THREADS=1 ends the oversubscription", family)),
            std::vector<std::string>{"--threads 1"});
}

TEST(FromPassages, OnlyTheWayThatTheTextTurnsIt) {
  const auto more = changes(read("More loader workers helped."));
  EXPECT_EQ(more, (std::vector<std::string>{"--workers 2", "--workers 3"}));
  EXPECT_EQ(changes(read("Use fewer loader workers.")), std::vector<std::string>{"--workers 0"});
  const auto unsaid = changes(read("Data starvation is about loader workers."));
  EXPECT_EQ(unsaid, (std::vector<std::string>{"--workers 0", "--workers 2", "--workers 3"}));
  EXPECT_EQ(changes(read("Keep decoded inputs on disk, they said.")),
            std::vector<std::string>{"FEED_CACHE={state}/decoded"});
  for (const auto& idea : read("We raised the Batch-Size and it flew.").ideas) {
    EXPECT_TRUE(idea.change.env.contains("FEED_BATCH")) << idea.title;
    EXPECT_LE(idea.predicted_gain, idea.ceiling_share);
  }
}

TEST(FromPassages, AnEverydayWordNeedsWordsForWhatItWouldCure) {
  EXPECT_TRUE(read("The cluster starts 4 workers, or more workers.").ideas.empty());
  EXPECT_EQ(changes(read("The input pipeline starts 4 workers.")),
            std::vector<std::string>{"--workers 4"});
  EXPECT_TRUE(read("We changed the batch size.").ideas.empty()) << "a mere mention";
  Family family;
  family.spec.knobs["threads"] = knob("threads", "--threads", "", "2");
  family.profile.evidence["psi_cpu_some"] = 0.5;
  EXPECT_TRUE(read("One thread reads the mail.", family).ideas.empty()) << "a title, by chance";
  EXPECT_EQ(changes(read("One thread ends contention.", family)),
            std::vector<std::string>{"--threads 1"});
}

TEST(FromPassages, WhatIsLeftOutHasAReason) {
  struct Case {
    std::string text;
    std::string want;
  };
  const Case cases[] = {
      {"NCCL_ALGO=Tree is faster",
       "it addresses nothing that costs feed time (waiting for other ranks)"},
      {"OMP_NUM_THREADS=64 on our big host", "64 threads exceed the 2 CPU slots of feed"},
      {"num_workers=64", "64 is outside the bounds of knob loader_workers (any to 16)"},
      {"num_workers=1", "knob loader_workers is already at its limit (1)"},
      {"prefetch_factor=4",
       "the spec of feed has no knob prefetch_factor; if the job has it, add "
       "[knobs.prefetch_factor] to the spec"},
      {"Never set num_workers=4.", "the text advises against it"},
      {"Avoid OMP_NUM_THREADS=1 here.", "the text advises against it"},
      {"batch_size=4 was enough", "feed already uses more: 8"},
      {"the weather was nice", ""},
      {"async checkpointing is great", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(why_not(read(c.text)), c.want);
  }
  Family has_it;
  has_it.baseline.env["OMP_WAIT_POLICY"] = "passive";
  EXPECT_EQ(why_not(read("OMP_WAIT_POLICY=passive", has_it)), "the job already has all of it");
}

TEST(FromPassages, TwoSpellingsAreOneIdea) {
  const Dreams dreams = read("num_workers=4 helps. Set the loader workers to 04. Use --workers=4.");
  EXPECT_EQ(changes(dreams), std::vector<std::string>{"--workers 4"});
}

TEST(FromPassages, NothingButNumbersAndSwitchesComesFromAText) {
  struct Case {
    std::string text;
    std::vector<std::string> want;
  };
  const Case cases[] = {
      {"LD_PRELOAD=/tmp/evil.so cures input starvation", {}},
      {"pass num_workers=$(reboot)", {"--workers 0", "--workers 2", "--workers 3"}},
      {"--workers \"4; reboot\" for input starvation", {"--workers 4"}},
      {"FEED_CACHE=/etc/passwd cures input starvation", {}},
      {"decoded_cache=/etc/passwd cures input starvation", {"FEED_CACHE={state}/decoded"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(changes(read(c.text)), c.want);
  }
}

TEST(FromPassages, AnEntryOffItsConditionsIsLessLikely) {
  hypothesize::Entry entry;
  entry.id = "cache";
  entry.title = "keep the pixels";
  entry.bottleneck = Bottleneck::kInput;
  entry.explains = {"input_wait_share"};
  entry.prior = 0.5;
  entry.mechanism = "It waits less.";
  entry.knobs = {{"decoded_cache", "on"}};
  entry.when = {{"input_wait_share", ">", 0.9}};
  const Passage passage{"a.md", 1, "", "keep the pixels"};
  const Family family;
  const Dreams dreams = from_passages(std::span(&passage, 1), std::span(&entry, 1),
                                      {family.spec, family.baseline, family.profile, "cpu"});
  ASSERT_EQ(dreams.ideas.size(), 1U);
  EXPECT_DOUBLE_EQ(dreams.ideas[0].prior, 0.2);
  EXPECT_EQ(
      dreams.ideas[0].mechanism,
      "It waits less. a.md:1 says: \"keep the pixels\"; here condition input_wait_share > 0.9 "
      "does not hold (" +
          show_number(0.3) + ").");
}

bool has(const std::vector<std::string>& phrases, const std::string& phrase) {
  return std::ranges::find(phrases, phrase) != phrases.end();
}

TEST(Query, WordsOfWhatIsSlowAndNamesOfWhatCanBeSet) {
  const auto playbook = hypothesize::embedded_playbook();
  ASSERT_TRUE(playbook);
  const Query query = query_for(starved(), feed(), *playbook);
  EXPECT_EQ(query.words.at(0), "input starv");
  EXPECT_TRUE(has(query.words, "oversubscri"));
  EXPECT_FALSE(has(query.words, "allreduce"));
  EXPECT_TRUE(has(query.names, "omp"));
  EXPECT_TRUE(has(query.names, "num workers"));
  EXPECT_TRUE(has(query.names, "feed batch")) << "what the job itself calls it";
  EXPECT_TRUE(has(query.names, "keep decoded inputs on disk"));
  for (const auto& list : {query.words, query.names}) {
    for (const std::string& phrase : list) {
      EXPECT_FALSE(phrase.empty());
      EXPECT_EQ(phrase.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789 "),
                std::string::npos)
          << phrase;
    }
  }
  EXPECT_TRUE(query_for({}, feed(), *playbook).words.empty());
}

}  // namespace
}  // namespace amdahl::dream
