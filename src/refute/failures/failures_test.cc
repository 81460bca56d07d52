#include "refute/failures/failures.h"

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::failures {
namespace {

void fail(Evidence& e, std::size_t pairs) {
  for (std::size_t i = 0; i < pairs; ++i) e.pairs[i].voided = e.pairs[i].b.failed = true;
}

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: the variant failed in 0 of 12 attempts, where 4.0 % is usual (p 1.00 for "
     "more)"},
    {"one failed", [](Evidence& e, model::Spec&) { fail(e, 1); },
     "agree: the variant failed in 1 of 12 attempts, where 4.0 % is usual (p 0.387 for "
     "more)"},
    {"two failed", [](Evidence& e, model::Spec&) { fail(e, 2); },
     "doubt: the variant failed in 2 of 12 attempts, where 4.0 % is usual (p 0.0809 "
     "for more)"},
    {"two failed still",
     [](Evidence& e, model::Spec&) {
       fail(e, 2);
       e.topped_up = true;
     },
     "agree: the variant failed in 2 of 12 attempts, where 4.0 % is usual (p 0.0809 "
     "for more)"},
    {"four failed", [](Evidence& e, model::Spec&) { fail(e, 4); },
     "veto: the variant failed in 4 of 12 attempts, where 4.0 % is usual (p 0.000978 "
     "for more)"},
    {"failed beside neighbours, too",
     [](Evidence& e, model::Spec&) {
       top_up(e, "contention", 4, 0.1);
       top_up(e, "aa", 4, 0);
       for (auto& pair : e.pairs) {
         if (!pair.target.empty()) pair.voided = pair.b.failed = true;
       }
     },
     "veto: the variant failed in 4 of 16 attempts, where 4.0 % is usual (p 0.00316 for "
     "more)"},
    {"lost before B ran",
     [](Evidence& e, model::Spec&) {
       e.pairs[0].voided = true;
       e.pairs[0].b.wall_s = 0;
     },
     "agree: the variant failed in 0 of 11 attempts, where 4.0 % is usual (p 1.00 for "
     "more)"},
    {"A failed", [](Evidence& e, model::Spec&) { e.pairs[0].voided = e.pairs[0].a.failed = true; },
     "agree: the variant failed in 0 of 12 attempts, where 4.0 % is usual (p 1.00 for "
     "more)"},
};

TEST(Failures, SaysWhatItSees) { expect_says(kCases, run, "agree doubt veto"); }

}  // namespace
}  // namespace amdahl::refute::failures
