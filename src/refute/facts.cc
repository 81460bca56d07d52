#include "refute/facts.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/check.h"
#include "base/text.h"
#include "compare/compare.h"
#include "stats/tests.h"

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

bool had_pairs(const Evidence& evidence, std::string_view check) {
  return std::ranges::find(evidence.pairs, check, &PairFact::target) != evidence.pairs.end();
}

Pairs whole_runs_for(const Evidence& evidence, std::string_view check) {
  Pairs pairs = pairs_for(evidence, check);
  std::erase_if(pairs, [](const PairFact* pair) { return !pair->steps.empty(); });
  return pairs;
}

std::string those_by_steps(const Evidence& evidence, std::string_view check) {
  const std::size_t left_out =
      pairs_for(evidence, check).size() - whole_runs_for(evidence, check).size();
  if (left_out == 0) return "";
  return fmt::format(" ({} do not count: both arms ran in one process)", left_out);
}

std::vector<Trial> trials_in(const Evidence& evidence, const Pairs& pairs) {
  std::vector<Trial> trials;
  for (const PairFact* pair : pairs) {
    const std::vector<double> d = compare::log_ratios(*pair, *evidence.spec);
    for (std::size_t i = 0; i < d.size(); ++i) {
      if (pair->steps.empty()) {
        trials.push_back(
            {d[i], pair->variant_second, pair->ran_variant_second, pair->after_shared});
      } else {  // The worker keeps a process to its schedule, or the pair is void.
        const bool second = pair->steps[i].variant_second;
        // What A left to the next step is there for a B that comes first in its own pair, too.
        const bool after_a = !second && i > 0 && !pair->steps[i - 1].variant_second;
        trials.push_back({d[i], second, model::Observed<bool>(second), after_a});
      }
    }
  }
  return trials;
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

bool reports_work(const PairFact& pair) {
  return pair.a.work.value_or(0) > 0 && pair.b.work.value_or(0) > 0;
}

bool reports_work(const Evidence& evidence) {
  return std::ranges::any_of(evidence.pairs,
                             [](const PairFact& pair) { return reports_work(pair); });
}

double work_or_run(const PairFact& pair, const model::ArmFact& arm) {
  return reports_work(pair) ? *arm.work : 1;
}

bool fingerprinted(const PairFact& pair) {
  return pair.a.input_fingerprint && pair.b.input_fingerprint;
}

bool same_input(const PairFact& pair) {
  return model::same(pair.a.input_fingerprint, pair.b.input_fingerprint).value_or(false);
}

Coverage coverage(const Pairs& pairs, const std::function<bool(const model::ArmFact&)>& seen) {
  Coverage coverage;
  for (const PairFact* pair : pairs) {
    const bool a = seen(pair->a);
    const bool b = seen(pair->b);
    ++(a ? (b ? coverage.both : coverage.only_a) : (b ? coverage.only_b : coverage.neither));
  }
  return coverage;
}

bool nearly_all(std::size_t seen, std::size_t pairs) { return 10 * seen >= 9 * pairs; }

Ruling rule(const Coverage& coverage) {
  if (coverage.only_a > coverage.only_b) {
    const auto hidden = static_cast<int>(coverage.only_a);
    return by_p(stats::binomial_tail(hidden, hidden + static_cast<int>(coverage.only_b)));
  }
  return nearly_all(coverage.both, coverage.pairs()) ? kAgrees : kAbstains;
}

std::string explain(const Coverage& coverage) {
  const std::string pairs = count(coverage.pairs(), "pair");
  if (coverage.only_a + coverage.only_b == 0) {
    return fmt::format("reported in {} of {}", coverage.both, pairs);
  }
  return fmt::format("reported by A but not by B in {} of {}, by B but not by A in {}",
                     coverage.only_a, pairs, coverage.only_b);
}

bool was_lost(const model::ArmFact& arm) { return arm.failed && arm.wall_s <= 0; }

std::optional<double> known(const model::Observed<double>& number) {
  return number && std::isfinite(*number) ? number.seen() : std::nullopt;
}

bool rests_on_report(const model::Spec& spec) {
  return !spec.metric.empty() && spec.metric != model::Spec{}.metric;
}

}  // namespace amdahl::refute
