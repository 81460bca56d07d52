// work.h: whether the variant wins by doing less work.
#pragma once

#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::work {

// `log_work` is ln(work B / work A); more than `tolerance` less is decisive.
Ruling rule(std::span<const double> log_work, double tolerance = 0.005);

// Pairs in which only one arm left processes running: their work is missing from its cost. Decisive
// if B does so in half of the pairs and A in none.
struct LeftoverProcesses {
  int only_a = 0;
  int only_b = 0;
  int pairs = 0;
};
Ruling rule(const LeftoverProcesses& left);

// Beyond the rules, more work on exactly the same input is decisive: it is impossible.
model::Finding run(const Evidence& evidence);

bool pairs_help(const Evidence& evidence);

}  // namespace amdahl::refute::work
