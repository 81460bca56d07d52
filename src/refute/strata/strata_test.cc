#include "refute/strata/strata.h"

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::strata {
namespace {

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: weighted by input class it saves 10 %; at least half of 10.0 % is required: long (60 "
     "%) saves 10 % over 6 pairs; short (40 %) saves 9.8 % over 6 pairs"},
    {"a class is thin",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.stratum == "short" && pair.index > 3) pair.stratum = "long";
       }
     },
     "abstain: by input class: 60 % of the fleet has at least 3 pairs; 70 % is required: long (60 "
     "%) saves 10.0 % over 10 pairs; short (40 %) has 2 pairs"},
    {"a small class is thin",
     [](Evidence& e, model::Spec& s) {
       s.strata[0].weight = 0.8;
       s.strata[1].weight = 0.2;
       for (auto& pair : e.pairs) {
         if (pair.index > 3) pair.stratum = "long";
       }
     },
     "agree: weighted by input class it saves 10.0 %; at least half of 10.0 % is required: long "
     "(80 %) saves 10.0 % over 10 pairs; short (20 %) has 2 pairs"},
    {"no class is known",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (true) pair.stratum.clear();
       }
     },
     "abstain: by input class: 0.0 % of the fleet has at least 3 pairs; 70 % is required: long (60 "
     "%) has 0 pairs; short (40 %) has 0 pairs"},
    {"wins on the rare class only",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.stratum == "long") set_effect(pair, 0.005);
       }
     },
     "doubt: weighted by input class it saves 4.3 %; at least half of 10.0 % is required: long (60 "
     "%) saves 0.5 % over 6 pairs; short (40 %) saves 9.8 % over 6 pairs"},
    {"loses on the common class",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.stratum == "long") set_effect(pair, -0.05);
       }
     },
     "veto: weighted by input class it saves 1.1 %; at least half of 10.0 % is required: long (60 "
     "%) costs 5.1 % more over 6 pairs (loss: p = 0.016); short (40 %) saves 9.8 % over 6 pairs"},
    {"loses on all that counts",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.stratum == "long") set_effect(pair, -0.1);
       }
     },
     "veto: weighted by input class it costs 1.9 % more; at least half of 10.0 % is required: long "
     "(60 %) costs 11 % more over 6 pairs (loss: p = 0.016); short (40 %) saves 9.8 % over 6 "
     "pairs"},
    {"loses on a class that is too small to matter",
     [](Evidence& e, model::Spec& s) {
       s.strata[0].weight = 0.1;
       s.strata[1].weight = 0.9;
       for (auto& pair : e.pairs) {
         if (pair.stratum == "long") set_effect(pair, -0.05);
       }
     },
     "agree: weighted by input class it saves 8.4 %; at least half of 10.0 % is required: long (10 "
     "%) costs 5.1 % more over 6 pairs (loss: p = 0.016); short (90 %) saves 9.8 % over 6 pairs"},
    {"topped up",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.stratum = "long";
       top_up(e, "strata", 8, 0.1);
       for (auto& pair : e.pairs) {
         if (pair.target == "strata") pair.stratum = "short";
       }
     },
     "agree: weighted by input class it saves 9.9 %; at least half of 10.0 % is required: long (60 "
     "%) saves 10.0 % over 12 pairs; short (40 %) saves 9.8 % over 8 pairs"},
};

TEST(Strata, SaysWhatItSees) { expect_says(kCases, run, "abstain agree doubt veto"); }

TEST(Strata, AppliesWhereThereIsMoreThanOneClass) {
  model::Spec s = sample_spec();
  Evidence e = sample_win(s);
  EXPECT_TRUE(applies(e));
  s.strata.resize(1);
  EXPECT_FALSE(applies(e));
  s.strata.clear();
  EXPECT_FALSE(applies(e));
}

TEST(Strata, TheThinnestClassIsTheOneFurthestBehindItsShare) {
  model::Spec s = sample_spec();
  Evidence e = sample_win(s);
  EXPECT_EQ(thinnest(e), "long");  // As many pairs as the other, of a larger share.
  for (auto& pair : e.pairs) pair.stratum = "long";
  EXPECT_EQ(thinnest(e), "short");
  s.strata.clear();
  EXPECT_EQ(thinnest(e), "");
}

}  // namespace
}  // namespace amdahl::refute::strata
