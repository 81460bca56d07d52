// failures.h: whether the variant fails more often than usual. A run without a number is a failure,
// whatever its exit code: otherwise a variant could select its sample.
#pragma once

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::failures {

// `soft` is the p-value at which it doubts; 0.01 is decisive. It takes the usual rate for known, so
// what it says is enough to buy pairs, and not to close a claim: see log_e().
Ruling rule(int failed, int attempts, double usual_rate = 0.04, double soft = 0.15);

// So many failures, if B had a rate of its own (any, as likely as another) against the usual one.
// That is known from `usual_runs` runs, so a short history proves little. 0 for no more than usual.
double log_e(int failed, int attempts, double usual_rate, double usual_runs);

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
