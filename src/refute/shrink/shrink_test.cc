#include "refute/shrink/shrink.h"

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::shrink {
namespace {

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: 10.0 % over 12 pairs shrinks to 10.0 % when corrected for selection; at least 1.0 % "
     "is required"},
    {"too few", [](Evidence& e, model::Spec&) { e.pairs.resize(4); },
     "abstain: 4 pairs counted; at least 5 are needed"},
    {"not worth it",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) set_effect(pair, 0.008);
     },
     "doubt: 0.8 % over 12 pairs shrinks to 0.8 % when corrected for selection; at least 1.0 % is "
     "required"},
};

TEST(Shrink, SaysWhatItSees) { expect_says(kCases, run, "abstain agree doubt"); }

}  // namespace
}  // namespace amdahl::refute::shrink
