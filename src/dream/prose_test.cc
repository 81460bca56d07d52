#include "dream/prose.h"

#include <gtest/gtest.h>

#include "dream/knob_names.h"

namespace amdahl::dream {
namespace {

std::vector<std::string> quotes(std::string_view text) {
  std::vector<std::string> all;
  for (const Sentence& sentence : sentences_in(text)) {
    all.push_back(std::to_string(sentence.line) + ": " + quoted(sentence));
  }
  return all;
}

TEST(Prose, SentencesEndAtStopsListItemsAndCode) {
  struct Case {
    std::string text;
    std::vector<std::string> want;
  };
  const Case cases[] = {
      {"It waits.\nRaise it, e.g. to\n4. Done!",
       {"0: It waits.", "1: Raise it, e.g. to", "2: 4.", "2: Done!"}},
      {"One line that\ngoes on here. Next", {"0: One line that goes on here.", "1: Next"}},
      {"- first\n- second\n", {"0: - first", "1: - second"}},
      {"Like so:\nexport A=1\nexport B=0.5\nand more",
       {"0: Like so:", "1: export A=1", "2: export B=0.5", "3: and more"}},
      {"", {}},
      {"...\n---\n", {}},
      {"a \x1b[31mred\x07 one", {"0: a [31mred one"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(quotes(c.text), c.want);
  }
}

TEST(Prose, AQuoteHasNoSecretsAndAnEnd) {
  const auto quote = quotes("use ghp_0123456789abcdefghijklmnopqrstuvwxyz here");
  ASSERT_EQ(quote.size(), 1U);
  EXPECT_EQ(quote[0], "0: use [redacted] here");
  EXPECT_LE(quotes(std::string(5000, 'a')).at(0).size(), 200U);
}

// "knob=value" or "knob+", "knob-", "knob?", for what the sentence says of each knob.
std::string said(const std::string& text, const model::Spec& spec = {}) {
  std::string all;
  for (const Sentence& sentence : sentences_in(text)) {
    for (const KnobMention& one : knobs_in(sentence, spec)) {
      const std::string_view way = one.way == Direction::kMore   ? "+"
                                   : one.way == Direction::kLess ? "-"
                                                                 : "?";
      all +=
          (all.empty() ? "" : " ") + one.knob + (one.value ? "=" + *one.value : std::string(way));
      if (advises_against(sentence, one.first)) all += "!";
    }
  }
  return all;
}

TEST(KnobNames, ValuesInManySpellings) {
  struct Case {
    std::string text;
    std::string want;
  };
  const Case cases[] = {
      {"num_workers=4 / more loader workers cured input starvation", "loader_workers=4"},
      {"DataLoader(data, num_workers=8, pin_memory=True)", "loader_workers=8 pin_memory=on"},
      {"pass --num-workers 4", "loader_workers=4"},
      {"`num_workers`: 4", "loader_workers=4"},
      {"set num_workers to 4", "loader_workers=4"},
      {"going from 1 to 16 workers", "loader_workers=16"},
      {"we raised the batch size from 8 to 64", "batch_size=64"},
      {"with 4 loader workers it flew", "loader_workers=4"},
      {"pin_memory = false", "pin_memory=off"},
      {"precision=bf16", "precision=bf16"},
      {"num_workers=N", "loader_workers?"},
      {"num_workers=4-8 and num_workers=$(nproc)", "loader_workers?"},
      {"batch size 20 % larger", "batch_size?"},
      {"if num_workers == 0 then", "loader_workers?"},
      {"OMP_NUM_THREADS=1", ""},
      {"my_batch_size_limit=3", ""},
      {"four threads and some workers", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(said(c.text), c.want);
  }
}

TEST(KnobNames, WhichWayASentenceTurnsIt) {
  struct Case {
    std::string text;
    std::string want;
  };
  const Case cases[] = {
      {"more loader workers", "loader_workers+"},
      {"use fewer workers", "loader_workers-"},
      {"turn off fsync", "fsync-"},
      {"fsync off", "fsync-"},
      {"use persistent workers", "persistent_workers+"},
      {"checkpoints less often", "checkpoint_every+"},
      {"fewer checkpoints", "checkpoint_every+"},
      {"larger batches", "batch_size+"},
      {"it depends on batch size", "batch_size?"},
      {"loader workers increased throughput", "loader_workers?"},
      {"do not raise num_workers", "loader_workers+!"},
      {"smaller queues instead of more loader workers", "loader_workers+!"},
      {"num_workers=8 was slower than before", "loader_workers=8!"},
      {"num_workers=8 is faster, nothing is slower", "loader_workers=8"},
      {"when loaders do not keep up, set num_workers=8", "loader_workers=8"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(said(c.text), c.want);
  }
}

TEST(KnobNames, TheJobsOwnNamesOnlyWhereTheyAreSet) {
  model::Spec spec;
  model::Knob batch;
  batch.name = "batch_size";
  batch.arg = "--bs";
  batch.aliases = {"-b"};
  spec.knobs["batch_size"] = batch;
  model::Knob workers;
  workers.name = "loader_workers";
  workers.env = "W";
  spec.knobs["loader_workers"] = workers;
  EXPECT_EQ(said("run it with --bs 64", spec), "batch_size=64");
  EXPECT_EQ(said("run it with -b=32 and W=3", spec), "batch_size=32 loader_workers=3");
  EXPECT_EQ(said("we saw W 3 times, and bs is short for it", spec), "");
  EXPECT_EQ(said("run it with --bs 64"), "");
}

TEST(KnobNames, AVariableMayBeAKnobHere) {
  model::Spec spec;
  EXPECT_EQ(knob_for("OMP_NUM_THREADS", spec), nullptr);
  spec.knobs["threads"].name = "threads";
  spec.knobs["threads"].arg = "--threads";
  spec.knobs["queue_depth"].name = "queue_depth";
  spec.knobs["queue_depth"].env = "DEPTH";
  ASSERT_NE(knob_for("OMP_NUM_THREADS", spec), nullptr);
  EXPECT_EQ(knob_for("OMP_NUM_THREADS", spec)->name, "threads");
  EXPECT_EQ(knob_for("DEPTH", spec)->name, "queue_depth");
  EXPECT_EQ(knob_for("MKL_NUM_THREADS", spec), nullptr);
}

TEST(KnobNames, EveryKnownKnobHasANameInTexts) {
  model::Spec spec;
  for (const model::KnownKnob& known : model::known_knobs()) {
    const std::string text = "set " + std::string(known.name) + " to 3, on or bf16";
    SCOPED_TRACE(text);
    spec.knobs[std::string(known.name)].name = known.name;
    EXPECT_NE(said("raise " + std::string(known.name), spec).find(known.name), std::string::npos);
  }
}

}  // namespace
}  // namespace amdahl::dream
