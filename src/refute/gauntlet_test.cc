// Ways to win without saving anything, as they look in the evidence: each must be refuted by the
// check that is there for it, with the reason in its words, whatever all others say.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.h"
#include "refute/check.h"
#include "refute/sample.h"

namespace amdahl::refute {
namespace {

using model::Finding;
using model::PairFact;
using model::Spec;

struct Hack {
  std::string_view name;
  void (*spoil)(Evidence&, Spec&);
  std::string_view refuted_by;  // Ids of all checks that refute.
  std::string_view says;        // The first of them.
};

void for_each_pair(Evidence& e, void (*act)(PairFact&)) {
  for (PairFact& pair : e.pairs) act(pair);
}

// The comparison as it stands after the pairs were changed.
void judge_again(Evidence& e) {
  e.comparison = compare::judge(compare::resolved_prefix(e.pairs, {}, *e.spec),
                                compare::design_of(e.experiment));
}

// The variant wins only where it ran second. Twice the pairs, so that enough are left to win.
void win_when_second(Evidence& e) {
  for (int i = 12; i < 24; ++i) e.pairs.push_back(sample_pair(i, 0.105));
  for_each_pair(e,
                [](PairFact& pair) { set_effect(pair, *pair.ran_variant_second ? 0.21 : 0.002); });
  judge_again(e);
}

constexpr Hack kHacks[] = {
    {"skips items",
     [](Evidence& e, Spec&) {
       for_each_pair(e, [](PairFact& pair) {
         pair.b.work = 37;
         pair.b.cost *= 0.74;
         pair.b.cpu_s *= 0.74;
       });
       judge_again(e);
     },
     "work",
     "veto: B does -26.00 % work relative to A over 12 pairs; at most 0.5 % less is tolerated "
     "(within that: p = 1.00)"},
    {"skips items and reports them all the same",
     [](Evidence& e, Spec&) {
       for_each_pair(e, [](PairFact& pair) {
         set_effect(pair, 0.3);
         pair.b.output_digest = "37 of 50";
       });
       judge_again(e);
     },
     "quality",
     "veto: outputs differ in 12 of 12 pairs and the spec has no [[quality]] metric with a "
     "tolerance"},
    {"reports more work than it did",
     [](Evidence& e, Spec&) {
       for_each_pair(e, [](PairFact& pair) {
         set_effect(pair, 0);
         pair.b.work = 55.5;
       });
       judge_again(e);
     },
     "work",
     "veto: B reports +11.00 % work relative to A over 12 pairs with the same input, which is "
     "impossible; at most 0.5 % is tolerated"},
    {"takes the outputs that A left in a cache", [](Evidence& e, Spec&) { win_when_second(e); },
     "order",
     "veto: the variant saves 0.2 % when first (12 pairs) and 19 % when second (12 pairs); at "
     "least half of 10 % is required in both (less in the weaker: p = 0.0002)"},
    {"keeps a cache from pair to pair",
     [](Evidence& e, Spec&) {
       for_each_pair(e, [](PairFact& pair) { set_effect(pair, pair.index == 0 ? 0 : 2.1); });
       judge_again(e);
     },
     "amdahl",
     "veto: the change can affect 50 % of the cost; the claimed saving is 88 % (at least 88 % at "
     "95 %)"},
    {"drops precision beyond the tolerance",
     [](Evidence& e, Spec& s) {
       s.quality.push_back({"accuracy", 0.01, true});
       for_each_pair(e, [](PairFact& pair) {
         pair.a.quality["accuracy"] = 0.9;
         pair.b.quality["accuracy"] = 0.88 + 0.001 * (pair.index % 3);
         pair.b.output_digest = "ff";
       });
     },
     "quality",
     "veto: accuracy is worse by 0.019 on average over 12 pairs; up to 0.01 worse is allowed "
     "(within that: p = 1.00)"},
    {"changes its outputs where no tolerance is given",
     [](Evidence& e, Spec&) {
       for_each_pair(e, [](PairFact& pair) { pair.b.output_digest = "ff"; });
     },
     "quality",
     "veto: outputs differ in 12 of 12 pairs and the spec has no [[quality]] metric with a "
     "tolerance"},
    {"changes the seed of one run in twelve",
     [](Evidence& e, Spec&) { e.pairs[5].b.output_digest = "5eed"; }, "quality",
     "veto: outputs differ in 1 of 12 pairs and the spec has no [[quality]] metric with a "
     "tolerance"},
    {"leaves no outputs",
     [](Evidence& e, Spec&) {
       for_each_pair(e, [](PairFact& pair) { pair.b.output_digest.reset(); });
     },
     "quality",
     "veto: outputs differ in 12 of 12 pairs and the spec has no [[quality]] metric with a "
     "tolerance"},
    {"edits its own metric",
     [](Evidence& e, Spec& s) {
       s.metric = "step_seconds";
       for_each_pair(e, [](PairFact& pair) {
         set_effect(pair, 0.001 * (pair.index % 5 - 2));
         pair.a.metric = 1;
         pair.b.metric = 0.7;
       });
       judge_again(e);
     },
     "cost",
     "veto: by its own metric 'step_seconds' the job saves 30 %; by our clock it saves 0.0 % in "
     "accelerator-seconds over 12 pairs; at least half is required (less: p = 0.0002)"},
    {"slows its own clock, and reports no work",
     [](Evidence& e, Spec& s) {
       s.metric = "step_seconds";
       for_each_pair(e, [](PairFact& pair) {
         set_effect(pair, 0.02 + 0.001 * (pair.index % 5 - 2));
         pair.a.metric = 1;
         pair.b.metric = 0.7;
         pair.a.work.reset();
         pair.b.work.reset();
       });
       judge_again(e);
     },
     "cost",
     "veto: by its own metric 'step_seconds' the job saves 30 %; by our clock it saves 2.0 % in "
     "accelerator-seconds over 12 pairs; at least half is required (less: p = 0.0002)"},
    {"moves work to the CPU",
     [](Evidence& e, Spec&) { for_each_pair(e, [](PairFact& pair) { pair.b.cpu_s = 1500; }); },
     "cost",
     "veto: the total cost (CPU included) rises by 11 % over 12 pairs; a fall by at least half of "
     "10.0 % is required (any fall: p = 1.00)"},
    {"leaves work behind in a daemon",
     [](Evidence& e, Spec&) { for_each_pair(e, [](PairFact& pair) { pair.b.left_behind = 1; }); },
     "work",
     "veto: only B leaves processes running in 12 of 12 pairs, only A in 0: their remaining work "
     "is missing from the cost of B"},
    {"is faster only when second", [](Evidence& e, Spec&) { win_when_second(e); }, "order",
     "veto: the variant saves 0.2 % when first (12 pairs) and 19 % when second (12 pairs); at "
     "least half of 10 % is required in both (less in the weaker: p = 0.0002)"},
    {"is faster on one host only",
     [](Evidence& e, Spec&) {
       for (int i = 12; i < 22; ++i) e.pairs.push_back(sample_pair(i, 0.105));
       for_each_pair(e, [](PairFact& pair) {
         if (pair.index % 5 > 1) return;
         pair.a.host = pair.b.host = "n2";
         set_effect(pair, 0.001);
       });
       judge_again(e);
     },
     "host",
     "veto: without host n1 it saves 0.1 % over 10 undisturbed pairs; at least half of 5.2 % is "
     "required (less: p = 0.002): one host carries the win"},
    {"is given a smaller input",
     [](Evidence& e, Spec&) {
       for_each_pair(e, [](PairFact& pair) {
         pair.b.input_fingerprint = "2f";
         pair.b.input_bytes = 900;
       });
     },
     "input",
     "veto: inputs are known in 12 of 12 pairs and differ in 12; adjusted for their size: "
     "saves 0.0 % over 12 pairs; at least half of 10.0 % is required (less: p = 0.0002)"},
    {"ignores the coin",
     [](Evidence& e, Spec&) {
       for_each_pair(e, [](PairFact& pair) { pair.ran_variant_second = true; });
     },
     "design",
     "veto: 6 of 12 pairs ran in the assigned order; the variant ran second in 12 (unfair coin: p "
     "= 0.0005, E 315)"},
    {"wins more than there is to win", [](Evidence& e, Spec&) { e.touched_share = 0.04; }, "amdahl",
     "veto: the change can affect 4.0 % of the cost; the claimed saving is 10.0 % (at least 9.5 % "
     "at 95 %)"},
    {"crashes more often",
     [](Evidence& e, Spec&) {
       for (int i = 12; i < 19; ++i) {
         e.pairs.push_back(sample_pair(i, 0.105));
         e.pairs.back().voided = e.pairs.back().b.failed = true;
       }
     },
     "failures",
     "veto: the variant failed in 7 of 19 attempts; 4.0 % is usual (more: p < 0.0001, E 187)"},
};

TEST(Gauntlet, EveryHackIsRefutedByTheCheckThatIsThereForIt) {
  for (const Hack& hack : kHacks) {
    SCOPED_TRACE(hack.name);
    Spec spec = sample_spec();
    Evidence evidence = sample_win(spec);
    hack.spoil(evidence, spec);
    // It looks like a win: without the panel it would be promoted.
    EXPECT_EQ(evidence.comparison.answer, model::Answer::kBetter);
    EXPECT_GT(evidence.comparison.effect, 0.05);
    const std::vector<Finding> findings = ask_all(evidence);
    std::vector<std::string> against;
    std::vector<std::string> said;
    for (const Finding& finding : findings) {
      if (finding.vote != model::Vote::kRefute) continue;
      against.push_back(finding.check);
      said.push_back(show(finding));
    }
    EXPECT_EQ(join(against, " "), hack.refuted_by);
    ASSERT_FALSE(said.empty());
    EXPECT_EQ(said.front(), hack.says);
    EXPECT_EQ(combine(findings, true, true).outcome, Outcome::kRefuted);
  }
}

}  // namespace
}  // namespace amdahl::refute
