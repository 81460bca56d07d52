#include "sim/rivals.h"

#include <array>
#include <cmath>
#include <functional>

#include "compare/compare.h"
#include "stats/estimate.h"
#include "stats/tests.h"

namespace amdahl::sim {
namespace {

constexpr double kFixedGain = 0.01;
constexpr int kFixedPairs = 3;
constexpr int kPeekFrom = 3;
constexpr int kPeekMost = 20;
constexpr double kSignificant = 0.05;

bool lower_number(const std::function<double()>& draw) { return draw() > 0; }

bool fixed_share(const std::function<double()>& draw) {
  std::vector<double> d;
  for (int i = 0; i < kFixedPairs; ++i) d.push_back(draw());
  return -std::expm1(-stats::mean(d)) >= kFixedGain;
}

bool peeking_t(const std::function<double()>& draw) {
  std::vector<double> d;
  while (static_cast<int>(d.size()) < kPeekMost) {
    d.push_back(draw());
    const bool enough = static_cast<int>(d.size()) >= kPeekFrom;
    if (enough && stats::p_mean_above(d, 0) <= kSignificant) return true;
  }
  return false;
}

bool fixed_t(const std::function<double()>& draw) {
  std::vector<double> d;
  while (static_cast<int>(d.size()) < kPeekMost) d.push_back(draw());
  return stats::p_mean_above(d, 0) <= kSignificant;
}

constexpr auto kRivals = std::to_array<Rival>({
    {"any-lower", "one pair, and any lower number wins", lower_number},
    {"fixed-1%", "three pairs, and 1 % on average wins", fixed_share},
    {"t-peeking", "a paired t test after each of up to 20 pairs, p 0.05", peeking_t},
    {"t-fixed", "a paired t test once, after 20 pairs, p 0.05", fixed_t},
});

}  // namespace

std::span<const Rival> rivals() { return kRivals; }

Campaign run_rival(const Rival& rival, const Setup& setup, std::uint64_t seed) {
  Campaign campaign;
  for (Job& job : make_jobs(setup, seed)) {
    for (std::size_t i = 0; i < job.truths().size(); ++i) {
      Outcome outcome{.truth = job.truths()[i]};
      model::Pair order;
      order.experiment = hypothesis_id(job.first() + static_cast<int>(i));
      Stream coin(seed, 0x636f696e, static_cast<std::uint64_t>(job.first()) + i);  // "coin"
      const auto draw = [&]() -> double {
        while (true) {
          ++order.index;
          order.variant_second = coin.chance(0.5);
          const model::PairFact fact = job.run(order).front();
          outcome.spent_h += outcome.truth.pair_hours;
          if (const auto d = compare::log_ratio(fact)) {
            ++outcome.compare;
            return *d;
          }
          ++outcome.voided;
        }
      };
      outcome.promoted = rival.decide(draw);
      campaign.spent_h += outcome.spent_h;
      campaign.outcomes.push_back(std::move(outcome));
    }
  }
  return campaign;
}

}  // namespace amdahl::sim
