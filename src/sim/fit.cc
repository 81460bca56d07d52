#include "sim/fit.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/text.h"
#include "stats/estimate.h"

namespace amdahl::sim {
namespace {

constexpr std::size_t kFewest = 6;      // Pairs that make a job's noise known.
constexpr std::size_t kForShares = 30;  // Pairs, runs or verdicts that make a share known.
constexpr double kFar = 4;              // Deviations beyond which a pair holds an outlier.

struct Pooled {
  std::vector<double> noises;  // One a job.
  std::size_t pairs = 0;       // Of those jobs.
  std::vector<double> far;     // What far pairs are off by.
  std::vector<double> second;
  std::vector<double> pair_hours;
  int runs = 0;
  int failed = 0;
};

void append(std::vector<double>& all, const std::vector<double>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

Pooled pool(const PastResults& seen) {
  Pooled all;
  for (const PastJob& job : seen.jobs) {
    append(all.pair_hours, job.pair_hours);
    all.runs += job.runs;
    all.failed += job.failed;
    if (job.still.size() < kFewest) continue;
    const double sigma = stats::sigma_of_same(job.still);
    all.noises.push_back(sigma);
    all.pairs += job.still.size();
    append(all.second, job.second);
    for (const double d : job.still) {
      if (std::abs(d) > kFar * sigma) all.far.push_back(std::abs(d));
    }
  }
  return all;
}

std::string count(std::size_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

std::string fit_noise(const Pooled& all, Setup& setup) {
  if (all.noises.empty()) {
    return fmt::format(
        "noise: no job has {} pairs to measure it; assumed: a mix of 1 to 10 % per pair", kFewest);
  }
  setup.population.noises = all.noises;
  setup.population.noise_shares.assign(all.noises.size(),
                                       1.0 / static_cast<double>(all.noises.size()));
  return fmt::format("noise: {} to {} per pair, median {}, from {} of {}",
                     show_percent(std::ranges::min(all.noises)),
                     show_percent(std::ranges::max(all.noises)),
                     show_percent(stats::median(all.noises)), count(all.pairs, "pair", "pairs"),
                     count(all.noises.size(), "job", "jobs"));
}

// Outliers and bursts are fitted together from pairs far from the median, so that bursts do not
// count twice.
std::string fit_outliers(const Pooled& all, Noise& noise) {
  if (all.pairs < kForShares) {
    return fmt::format("outliers: {} are too few; assumed: {} of runs",
                       count(all.pairs, "pair", "pairs"), show_percent(noise.outlier_share));
  }
  noise.burst_enter = 0;
  noise.outlier_share = static_cast<double>(all.far.size()) / (2 * static_cast<double>(all.pairs));
  if (all.far.empty()) return fmt::format("outliers: none in {} pairs", all.pairs);
  noise.outlier_least = std::ranges::min(all.far);
  noise.outlier_more = std::max(1e-3, stats::mean(all.far) - noise.outlier_least);
  return fmt::format("outliers: {} of runs, {} slower on average, in {} of {} pairs",
                     show_percent(noise.outlier_share),
                     show_percent(std::expm1(stats::mean(all.far))), all.far.size(), all.pairs);
}

std::string fit_second(const Pooled& all, Noise& noise) {
  if (all.second.size() < kForShares) {
    return fmt::format("second run of a pair: {} are too few; assumed: no difference",
                       count(all.second.size(), "pair", "pairs"));
  }
  noise.second = stats::hodges_lehmann(all.second);
  return fmt::format("second run of a pair: {:+.2f} %, from {} pairs",
                     100 * std::expm1(noise.second), all.second.size());
}

std::string fit_failures(const Pooled& all, Noise& noise) {
  if (all.runs < static_cast<int>(kForShares)) {
    return fmt::format("failures: {} runs are too few; assumed: {}", all.runs,
                       show_percent(noise.fail));
  }
  noise.fail = static_cast<double>(all.failed) / all.runs;
  return fmt::format("failures: {} of {} baseline runs", all.failed, all.runs);
}

std::string fit_cost(const Pooled& all, Population& population) {
  if (all.pair_hours.size() < kFewest) {
    return fmt::format("cost of a pair: assumed: {} accelerator-hours",
                       show_number(population.pair_hours));
  }
  population.pair_hours = std::max(1e-9, stats::median(all.pair_hours));
  return fmt::format("cost of a pair: {} accelerator-hours, the median of {}",
                     show_number(population.pair_hours), all.pair_hours.size());
}

// A ledger cannot count adversaries: those that passed are recorded as wins.
std::string fit_wins(const PastResults& seen, Mix& mix) {
  mix = mixed_campaign();
  if (seen.tried < static_cast<std::int64_t>(kForShares)) {
    return fmt::format("wins: {} verdicts are too few; assumed: {} wins and {} adversaries",
                       seen.tried, show_percent(0.18), show_percent(0.16));
  }
  const double share = static_cast<double>(seen.won) / static_cast<double>(seen.tried);
  auto& wins = mix[static_cast<std::size_t>(Kind::kWin)];
  auto& nulls = mix[static_cast<std::size_t>(Kind::kNull)];
  const double both = wins + nulls;
  wins = std::clamp(share, 0.0, both);
  nulls = both - wins;
  return fmt::format("wins: {} of {} verdicts; assumed: {} adversaries", seen.won, seen.tried,
                     show_percent(0.16));
}

}  // namespace

std::vector<std::string> fit(const PastResults& seen, Setup& setup) {
  const Pooled all = pool(seen);
  std::vector<std::string> told{fit_noise(all, setup)};
  Noise noise = find_scenario("base")->noise(1);
  told.push_back(fit_outliers(all, noise));
  told.push_back(fit_second(all, noise));
  told.push_back(fit_failures(all, noise));
  setup.noise = noise;
  told.push_back(fit_cost(all, setup.population));
  told.push_back(fit_wins(seen, setup.mix));
  return told;
}

}  // namespace amdahl::sim
