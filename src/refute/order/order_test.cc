#include "refute/order/order.h"

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::order {
namespace {

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: the variant saves 10.0 % when first (6 pairs) and 10.0 % when second (6 pairs); at "
     "least half of 10.0 % is required in both (less in the weaker: p = 1.00)"},
    {"too few", [](Evidence& e, model::Spec&) { e.pairs.resize(5); },
     "abstain: 2 pairs when first and 3 when second; at least 3 of each are needed"},
    {"at once, on half of the slots only",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         pair.concurrent = true;
         if (pair.index % 2 == 1) set_effect(pair, 0);
       }
     },
     "doubt: the variant saves 0.0 % on the second slots (6 pairs) and 10.0 % on the first slots "
     "(6 pairs); at least half of 10.0 % is required in both (less in the weaker: p = 0.016)"},
    {"only when second",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs)
         if (pair.index % 2 == 1) set_effect(pair, 0);
     },
     "doubt: the variant saves 0.0 % when first (6 pairs) and 10.0 % when second (6 pairs); at "
     "least half of 10.0 % is required in both (less in the weaker: p = 0.016)"},
    {"only when second, for good",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs)
         if (pair.index % 2 == 1) set_effect(pair, 0);
       top_up(e, "order", 8, 0);
       for (auto& pair : e.pairs)
         if (pair.index >= 100) pair.ran_variant_second = false;
     },
     "veto: the variant saves 0.2 % when first (14 pairs) and 10.0 % when second (6 pairs); at "
     "least half of 10.0 % is required in both (less in the weaker: p < 0.0001)"},
    {"by steps of one process",
     [](Evidence& e, model::Spec&) {
       e.pairs.resize(1);
       e.pairs[0].steps = {{true, 1, 0.9},  {false, 1, 0.9}, {false, 1, 0.91},
                           {true, 1, 0.89}, {true, 1, 0.9},  {false, 1, 0.9}};
     },
     "abstain: 2 pairs when nothing ran before it and 4 after other runs; at least 3 of each are "
     "needed"},
    {"in a block, only when another variant has warmed the caches",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.ran_variant_second == true) continue;
         pair.after_shared = pair.index % 4 == 1;
         if (!pair.after_shared) set_effect(pair, 0);
       }
     },
     "abstain: the variant saves 0.0 % when nothing ran before it (3 pairs) and 10.0 % after other "
     "runs (9 pairs); at least half of 10.0 % is required in both (less in the weaker: p = 0.12)"},
    {"in one process, only just after a step of A",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         bool after_a = false;
         for (const char order : std::string_view("21121221")) {
           const bool second = order == '2';
           pair.steps.push_back({second, 1, second || after_a ? 0.9 : 1.0});
           after_a = !second;
         }
       }
     },
     "veto: the variant saves 0.0 % when nothing ran before it (36 pairs) and 10 % after other "
     "runs (60 pairs); at least half of 10.0 % is required in both (less in the weaker: p < "
     "0.0001)"},
    {"less when second",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs)
         if (pair.index % 2 == 0) set_effect(pair, pair.index < 2 ? 0.1 : 0.045);
     },
     "abstain: the variant saves 10.0 % when first (6 pairs) and 4.4 % when second (6 pairs); at "
     "least half of 10.0 % is required in both (less in the weaker: p = 0.27)"},
};

TEST(Order, SaysWhatItSees) { expect_says(kCases, run, "abstain agree doubt veto"); }

}  // namespace
}  // namespace amdahl::refute::order
