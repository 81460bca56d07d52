#include "refute/facts.h"

#include <algorithm>

#include "base/check.h"
#include "compare/compare.h"

namespace amdahl::refute {
namespace {

using model::PairFact;
using model::Purpose;

template <class Wanted>
Pairs select(const Evidence& evidence, std::string_view check, const Wanted& wanted) {
  CHECK(evidence.spec != nullptr);
  Pairs pairs;
  for (const PairFact& pair : evidence.pairs) {
    const bool bought = pair.purpose == Purpose::kTopUp && pair.target == check;
    if (!bought && !wanted(pair.purpose)) continue;
    if (compare::log_ratio(pair, *evidence.spec)) pairs.push_back(&pair);
  }
  return pairs;
}

}  // namespace

Pairs pairs_for(const Evidence& evidence, std::string_view check) {
  return select(evidence, check, [](Purpose purpose) {
    return purpose == Purpose::kCompare || purpose == Purpose::kReplicate;
  });
}

Pairs fresh_pairs_for(const Evidence& evidence, std::string_view check) {
  return select(evidence, check, [](Purpose purpose) { return purpose == Purpose::kReplicate; });
}

Pairs bought_for(const Evidence& evidence, std::string_view check) {
  return select(evidence, check, [](Purpose) { return false; });
}

std::vector<double> log_ratios(const Evidence& evidence, const Pairs& pairs) {
  std::vector<double> d;
  for (const PairFact* pair : pairs) {
    const auto value = compare::log_ratio(*pair, *evidence.spec);
    CHECK(value.has_value());
    d.push_back(*value);
  }
  return d;
}

double claimed(const Evidence& evidence) { return evidence.comparison.effect; }

bool reports_work(const Evidence& evidence) {
  return std::ranges::any_of(evidence.pairs, [](const PairFact& pair) {
    return pair.a.work.value_or(0) > 0 && pair.b.work.value_or(0) > 0;
  });
}

}  // namespace amdahl::refute
