// failures.h: whether the variant fails more often than the job always did. A run without a number
// is a failure, whatever it exited with: else a variant could choose its sample.
#pragma once

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::failures {

// `soft` is the p-value at which it doubts; 0.01 is decisive.
Ruling rule(int failed, int attempts, double usual_rate = 0.04, double soft = 0.15);

// Pairs that were lost to one arm alone. A fair loss falls on either arm with the same chance, so
// the answer holds whenever one looks: it is a bet against that, and by_p(1 / E) bounds the chance
// that it ever refutes a fair one.
struct Losses {
  int to_a = 0;
  int to_b = 0;
};
double log_e(const Losses& losses);  // That B loses more.
Ruling rule(const Losses& losses);   // Refutes or agrees.

model::Finding run(const Evidence& evidence);

}  // namespace amdahl::refute::failures
