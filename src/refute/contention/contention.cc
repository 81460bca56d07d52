#include "refute/contention/contention.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "refute/facts.h"
#include "stats/estimate.h"
#include "stats/signed_rank.h"

namespace amdahl::refute::contention {
namespace {

using model::ArmFact;
using model::PairFact;

constexpr std::size_t kAtLeast = 4;
constexpr std::size_t kFew = 2;  // Enough if they are clear:
constexpr double kClear = 2;     // from a claim of so many deviations on.
constexpr double kBusyCores = 0.5;
constexpr double kStolen = 0.05;
constexpr double kDelayed = 0.02;  // Of its wall time, that the arm waited for a CPU.

State beside(const ArmFact& arm) {
  if (arm.steal_share.value_or(0) >= kStolen) return State::kBusy;
  // On a large host neighbours may keep to CPUs of their own: then the arm hardly waits for one.
  // A delay of exactly 0 was not measured.
  const bool measured = arm.run_delay_s > 0;
  if (measured && arm.run_delay_s < kDelayed * arm.wall_s) return State::kQuiet;
  const auto foreign = known(arm.foreign_cpu_cores);
  if (!foreign || !known(arm.steal_share)) return State::kUnknown;
  return *foreign < kBusyCores ? State::kQuiet : State::kBusy;
}

struct Sides {
  std::vector<double> quiet;
  std::vector<double> busy;
  std::size_t unknown = 0;
};

Sides sides_of(const Evidence& evidence) {
  Sides sides;
  const Pairs pairs = pairs_for(evidence, "contention");
  const std::vector<double> d = log_ratios(evidence, pairs);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    switch (state_of(*pairs[i])) {
      case State::kQuiet:
        sides.quiet.push_back(d[i]);
        break;
      case State::kBusy:
        sides.busy.push_back(d[i]);
        break;
      case State::kUnknown:
        ++sides.unknown;
        break;
    }
  }
  return sides;
}

bool loses(std::span<const double> d) {
  return stats::hodges_lehmann(d) < 0 && stats::wilcoxon_less(d, 0) <= 0.10;
}

// Two pairs of a state where nothing is saved both show half of a claim of two deviations as rarely
// as four pairs do on average.
bool clear(std::span<const double> d, double theta, double sigma) {
  return d.size() >= kFew && theta >= kClear * sigma &&
         std::ranges::all_of(d, [&](double one) { return one >= theta / 2; });
}

bool told(std::span<const double> d, double theta, double sigma) {
  return d.size() >= kAtLeast || clear(d, theta, sigma);
}

bool keeps_half(std::span<const double> d, double theta, double sigma) {
  if (d.size() < kAtLeast) return clear(d, theta, sigma);
  return three_rule(d, theta, kAtLeast) == kAgrees;
}

double on_the_whole(std::span<const double> quiet, std::span<const double> busy,
                    double busy_share) {
  return (1 - busy_share) * stats::hodges_lehmann(quiet) + busy_share * stats::hodges_lehmann(busy);
}

std::string describe(std::span<const double> d) {
  const double typical = stats::hodges_lehmann(d);
  const std::string loss =
      typical < 0 ? fmt::format(", loss: {}", show_p(stats::wilcoxon_less(d, 0))) : "";
  return fmt::format("({}{})", count(d.size(), "pair"), loss);
}

std::string explain(const Evidence& evidence, const Sides& sides) {
  const double sigma = evidence.experiment.sigma;
  const double theta = claimed(evidence);
  if (!told(sides.quiet, theta, sigma) || !told(sides.busy, theta, sigma)) {
    const std::string unknown =
        sides.unknown > 0 ? fmt::format(" ({} unknown)", sides.unknown) : "";
    return fmt::format("{} on quiet hosts and {} on busy hosts{}; at least {} of each are needed",
                       count(sides.quiet.size(), "pair"), sides.busy.size(), unknown, kAtLeast);
  }
  return fmt::format(
      "{} on quiet hosts {} and {} on busy hosts {}; at least half of {} is required on both; "
      "with {} of the fleet's hours on busy hosts it {} overall",
      show_effect(stats::hodges_lehmann(sides.quiet)), describe(sides.quiet),
      show_effect(stats::hodges_lehmann(sides.busy)), describe(sides.busy), show_saving(theta),
      show_percent(evidence.busy_share),
      show_effect(on_the_whole(sides.quiet, sides.busy, evidence.busy_share)));
}

std::size_t tried(const Evidence& evidence) {
  return static_cast<std::size_t>(
      std::ranges::count(evidence.pairs, "contention", &PairFact::target));
}

}  // namespace

State state_of(const PairFact& pair) {
  if (pair.contended) return State::kBusy;
  const State a = beside(pair.a);
  return a == beside(pair.b) ? a : State::kUnknown;
}

State found_in(const Evidence& evidence) {
  int quiet = 0;
  int busy = 0;
  for (const PairFact* pair : pairs_for(evidence, "")) {
    quiet += state_of(*pair) == State::kQuiet ? 1 : 0;
    busy += state_of(*pair) == State::kBusy ? 1 : 0;
  }
  if (quiet + busy == 0) return State::kUnknown;
  return busy > quiet ? State::kBusy : State::kQuiet;
}

Ruling rule(std::span<const double> quiet, std::span<const double> busy, double theta, double sigma,
            double busy_share) {
  if (!told(quiet, theta, sigma) || !told(busy, theta, sigma)) return kAbstains;
  if (keeps_half(quiet, theta, sigma) && keeps_half(busy, theta, sigma)) return kAgrees;
  const double whole = on_the_whole(quiet, busy, busy_share);
  if (loses(quiet) || loses(busy)) return whole <= 0 ? kDoubts : kAgrees;
  return whole >= theta / 2 ? kAgrees : kAbstains;
}

model::Finding run(const Evidence& evidence) {
  const Sides sides = sides_of(evidence);
  return finding(rule(sides.quiet, sides.busy, claimed(evidence), evidence.experiment.sigma,
                      evidence.busy_share),
                 explain(evidence, sides));
}

bool pairs_help(const Evidence& evidence) {
  if (tried(evidence) >= static_cast<std::size_t>(target_of("contention").enough)) return false;
  if (found_in(evidence) != State::kBusy) return true;
  return std::ranges::any_of(evidence.pairs, [](const PairFact& pair) {
    return !pair.voided && state_of(pair) == State::kQuiet;
  });
}

}  // namespace amdahl::refute::contention

namespace amdahl::refute {

std::string holds_for(const Evidence& evidence) {
  using contention::State;
  const State found = contention::found_in(evidence);
  if (found == State::kUnknown) return "unknown: no pair recorded how busy its host was";
  const contention::Sides sides = contention::sides_of(evidence);
  const bool quiet = found == State::kQuiet;
  const auto& own = quiet ? sides.quiet : sides.busy;
  const auto& other = quiet ? sides.busy : sides.quiet;
  const std::string_view here = quiet ? "quiet" : "busy";
  const std::string_view there = quiet ? "busy" : "quiet";
  const double theta = claimed(evidence);
  const double sigma = evidence.experiment.sigma;
  if (!contention::told(other, theta, sigma)) {
    return fmt::format("{} hosts; {} hosts not tested", here, there);
  }
  const double typical = stats::hodges_lehmann(other);
  const std::string pairs = count(other.size(), "pair");
  if (contention::loses(other)) {
    return fmt::format("{} hosts only: {} slower on {} hosts ({})", here,
                       show_percent(std::expm1(-typical)), there, pairs);
  }
  const bool both = own.size() < contention::kAtLeast || contention::keeps_half(own, theta, sigma);
  if (both && contention::keeps_half(other, theta, sigma)) return "quiet and busy hosts";
  return fmt::format("{} hosts; on {} hosts it {} ({}), less than half of {}", here, there,
                     show_effect(typical), pairs, show_saving(theta));
}

}  // namespace amdahl::refute
