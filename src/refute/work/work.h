// work.h: whether the variant wins by doing less.
#pragma once

#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::work {

// `log_work` is ln(work B / work A); more than `tolerance` less is decisive.
Ruling rule(std::span<const double> log_work, double tolerance = 0.005);

// Pairs in which only one arm left processes behind, of `pairs`: what they go on doing is work
// that no one charges to it. Decisive if B does so in half of them and A in none.
struct LeftBehind {
  int only_a = 0;
  int only_b = 0;
  int pairs = 0;
};
Ruling rule(const LeftBehind& left);

// Besides the rules, more work on the very same input is decisive too: it cannot have been done.
model::Finding run(const Evidence& evidence);

bool pairs_help(const Evidence& evidence);

}  // namespace amdahl::refute::work
