#include "refute/failures/failures.h"

#include <fmt/core.h>

#include "base/text.h"
#include "refute/facts.h"
#include "stats/tests.h"

namespace amdahl::refute::failures {
namespace {

using model::PairFact;
using model::Purpose;

// A failure of B is one whatever the pair was bought for, unless B was the baseline.
bool belongs(const PairFact& pair) {
  if (pair.purpose == Purpose::kTopUp) return !target_of(pair.target).same;
  return pair.purpose == Purpose::kCompare || pair.purpose == Purpose::kReplicate;
}

// A pair that was lost before B ran says nothing about B.
bool attempted(const PairFact& pair) { return !pair.voided || pair.b.failed || pair.b.wall_s > 0; }

}  // namespace

Ruling rule(int failed, int attempts, double usual_rate, double soft) {
  const double p = stats::binomial_tail(failed, attempts, usual_rate);
  if (p <= 0.01) return kVetoes;
  return p <= soft ? kDoubts : kAgrees;
}

model::Finding run(const Evidence& evidence) {
  int failed = 0;
  int attempts = 0;
  for (const PairFact& pair : evidence.pairs) {
    if (!belongs(pair) || !attempted(pair)) continue;
    ++attempts;
    failed += pair.b.failed ? 1 : 0;
  }
  // What targeted pairs have not cleared must be shown better than what has bought them.
  const double soft = evidence.topped_up ? 0.05 : 0.15;
  const double usual = evidence.historical_failure_rate;
  return finding(
      rule(failed, attempts, usual, soft),
      fmt::format("the variant failed in {} of {}, where {} is usual (p {} for more)", failed,
                  count(static_cast<std::size_t>(attempts), "attempt"), show_percent(usual),
                  show_number(stats::binomial_tail(failed, attempts, usual))));
}

}  // namespace amdahl::refute::failures
