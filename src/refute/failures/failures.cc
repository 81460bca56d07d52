#include "refute/failures/failures.h"

#include <cmath>
#include <string_view>

#include <fmt/core.h>

#include "base/text.h"
#include "model/pair.h"
#include "refute/facts.h"
#include "stats/tests.h"

namespace amdahl::refute::failures {
namespace {

using model::Fault;
using model::PairFact;
using model::Purpose;

constexpr int kAtLeast = 5;
constexpr double kWellKnown = 100;       // Runs that tell what is usual.
constexpr double kMostUnclaimed = 0.25;  // Share of lost pairs beyond which the rest says little.

// A failure of B is one whatever the pair was bought for, unless B was the baseline.
bool belongs(const PairFact& pair) {
  if (pair.purpose == Purpose::kTopUp) return !target_of(pair.target).same;
  return pair.purpose == Purpose::kCompare || pair.purpose == Purpose::kReplicate;
}

// A pair that was lost before B ran says nothing about B.
bool attempted(const PairFact& pair) { return !pair.voided || pair.b.failed || pair.b.wall_s > 0; }

struct Tally {
  int failed = 0;
  int attempts = 0;
  Losses losses;
  int unclaimed = 0;  // Pairs of the evidence that no arm can be blamed for,
  int pairs = 0;      // of all such pairs.
};

// With `own`, only what a job did itself: runs that were lost with their worker are left out.
Tally tally(const Evidence& evidence, bool own) {
  Tally tally;
  for (const PairFact& pair : evidence.pairs) {
    if (!belongs(pair)) continue;
    const bool feeds = model::feeds_evidence(pair.purpose);
    const bool lost_b = own && was_lost(pair.b);
    const bool by_a = pair.a.failed && !(own && was_lost(pair.a));
    const bool by_b = pair.b.failed && !lost_b;
    tally.pairs += feeds ? 1 : 0;
    tally.attempts += attempted(pair) && !lost_b ? 1 : 0;
    tally.failed += by_b ? 1 : 0;
    tally.losses.to_a += pair.voided && by_a && !by_b ? 1 : 0;
    tally.losses.to_b += pair.voided && by_b && !by_a ? 1 : 0;
    tally.unclaimed += feeds && fault_of(pair) == Fault::kUnknown ? 1 : 0;
  }
  return tally;
}

double log_beta(double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); }

// A refutation is for ever, so it needs evidence that lasts: E of 100, or of 20 after targeted
// pairs. Less than that buys pairs, and what they have not settled holds the claim back.
Ruling as_lasting(const Ruling& ruling, double log_e, bool topped_up) {
  if (ruling.vote != model::Vote::kRefute) return ruling;
  if (log_e >= std::log(100)) return kVetoes;
  return topped_up && log_e < std::log(20) ? kAbstains : kDoubts;
}

// A doubt that is too weak to refute holds the claim back: silence alone would not.
model::Finding binding(model::Finding finding) {
  finding.mandatory = finding.vote == model::Vote::kAbstain;
  return finding;
}

}  // namespace

Ruling rule(int failed, int attempts, double usual_rate, double soft) {
  const double p = stats::binomial_tail(failed, attempts, usual_rate);
  if (p <= 0.01) return kVetoes;
  return p <= soft ? kDoubts : kAgrees;
}

double log_e(int failed, int attempts, double usual_rate, double usual_runs) {
  if (failed <= usual_rate * attempts) return 0;
  const double well = attempts - failed;
  const double past_failed = usual_rate * usual_runs;
  const double past_well = usual_runs - past_failed;
  return log_beta(failed + 1, well + 1) - log_beta(failed + past_failed, well + past_well) +
         log_beta(past_failed, past_well);
}

// The share of losses that are B's is taken as uniform above a half: in closed form, for the tail
// of a beta distribution is one of a binomial.
double log_e(const Losses& losses) {
  const int n = losses.to_a + losses.to_b;
  const double log_choices =
      std::lgamma(n + 1) - std::lgamma(losses.to_a + 1) - std::lgamma(losses.to_b + 1);
  const double above_half = 1 - stats::binomial_tail(losses.to_b + 1, n + 1);
  return (n + 1) * std::log(2) - std::log(n + 1) - log_choices + std::log(above_half);
}

Ruling rule(const Losses& losses) {
  const Ruling doubt = by_p(std::exp(-log_e(losses)));
  return doubt == kAbstains ? kAgrees : doubt;
}

namespace {

// What a rate of failures says, against the usual one.
struct Doubt {
  Ruling ruling = kAgrees;
  std::string because;
};

Doubt by_rate(const Tally& tally, std::string_view what, const UsualFailures& usual,
              bool topped_up) {
  // What targeted pairs have not cleared must be shown better than what has bought them.
  const double soft = topped_up ? 0.05 : 0.25;
  const double e = log_e(tally.failed, tally.attempts, usual.rate, usual.runs);
  Ruling ruling = as_lasting(rule(tally.failed, tally.attempts, usual.rate, soft), e, topped_up);
  // Against a rate that is well known, chance reaches so little one time in four: the canary, which
  // sees many runs, looks on. An E below 1 speaks for the usual rate, however short the history.
  const double most = usual.runs >= kWellKnown ? std::log(4) : 0;
  if (ruling == kAbstains && e < most) ruling = kAgrees;
  const double p = stats::binomial_tail(tally.failed, tally.attempts, usual.rate);
  return {ruling, fmt::format("{} in {} of {}; {} is usual (more: {}{})", what, tally.failed,
                              count(static_cast<std::size_t>(tally.attempts), "attempt"),
                              show_percent(usual.rate), show_p(p),
                              ruling == kAgrees ? "" : fmt::format(", E {}", show_e(e)))};
}

Doubt by_balance(const Losses& losses, bool topped_up) {
  return {
      as_lasting(rule(losses), log_e(losses), topped_up),
      fmt::format("{} were lost because of the variant alone and {} because of the baseline "
                  "alone (E {} against chance): the remaining pairs are selected by the variant",
                  count(static_cast<std::size_t>(losses.to_b), "pair"), losses.to_a,
                  show_e(log_e(losses)))};
}

}  // namespace

model::Finding run(const Evidence& evidence) {
  const Tally all = tally(evidence, false);
  if (all.attempts < kAtLeast) {
    return finding(kAbstains, too_few(static_cast<std::size_t>(all.attempts), "attempt", kAtLeast));
  }
  const bool topped_up = had_pairs(evidence, "failures");
  Doubt worst = by_rate(all, "the variant failed", evidence.usual_failures, topped_up);
  const auto consider = [&](Doubt doubt) {
    if (severity(doubt.ruling) > severity(worst.ruling)) worst = std::move(doubt);
  };
  consider(by_balance(all.losses, topped_up));
  // Workers that die under both arms must not excuse what the variant does by itself.
  const Tally own = tally(evidence, true);
  consider(by_rate(own, "the variant failed by itself", evidence.usual_own_failures, topped_up));
  consider(by_balance(own.losses, topped_up));
  if (worst.ruling == kAgrees && all.unclaimed > kMostUnclaimed * all.pairs) {
    return binding(finding(
        kAbstains, fmt::format("{} of {} were lost for unknown reasons: the remaining pairs may be "
                               "selected by the variant",
                               all.unclaimed, count(static_cast<std::size_t>(all.pairs), "pair"))));
  }
  return binding(finding(worst.ruling, worst.because));
}

}  // namespace amdahl::refute::failures
