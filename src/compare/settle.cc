#include "compare/settle.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/text.h"
#include "compare/explain.h"
#include "compare/power.h"
#include "stats/estimate.h"

namespace amdahl::compare {
namespace {

// Mean over completed pairs; 0 if there is none.
double seconds_a_pair(const Measurements& measured) {
  std::vector<double> seconds;
  for (const std::vector<model::PairFact>* pairs : {&measured.same, &measured.pairs}) {
    for (const model::PairFact& pair : *pairs) {
      if (pair.voided) continue;
      seconds.push_back(pair.concurrent ? std::max(pair.a.wall_s, pair.b.wall_s)
                                        : pair.a.wall_s + pair.b.wall_s);
    }
  }
  return seconds.empty() ? 0 : stats::median(seconds);
}

std::string time_for(int pairs, const Measurements& measured) {
  const double seconds = pairs * seconds_a_pair(measured);
  return seconds > 0 ? fmt::format(", about {}", show_duration(from_seconds(seconds))) : "";
}

std::string more_pairs(const Account& account) {
  const Measurements& measured = account.measured;
  const int done = account.comparison.pairs;
  const int more = *account.pairs_to_settle;
  // Half as many again as typical, rounded up to tens: at the median half of all cases need more.
  const int cap = std::max(measured.design.cap, (done + more + more / 2 + 9) / 10 * 10);
  std::string text =
      fmt::format("about {} more{}", show_count(more, "pair"), time_for(more, measured));
  if (measured.resume.empty()) return text;
  text += fmt::format("; run: {}", measured.resume);
  if (cap > measured.design.cap) text += fmt::format(" --pairs {}", cap);
  return text;
}

}  // namespace

std::vector<std::string> what_settles(const Account& account) {
  const Measurements& measured = account.measured;
  const model::Comparison& c = account.comparison;
  if (c.answer != model::Answer::kCannotTell) return {};
  std::vector<std::string> ways;
  if (c.pairs == 0) {
    if (!measured.resume.empty())
      ways.push_back(fmt::format("completed pairs; run: {}", measured.resume));
    return ways;
  }
  constexpr int kTooMany = 2000;
  const bool few = account.pairs_to_settle && *account.pairs_to_settle <= kTooMany;
  if (few) {
    ways.push_back(more_pairs(account));
  } else {
    ways.push_back(
        fmt::format("more pairs alone will not help: the estimate, {}, is too close to {}, the "
                    "smallest difference that matters",
                    show_saving(std::abs(c.effect)), show_saving(measured.design.delta)));
  }
  if (c.pairs < measured.design.cap && few) return ways;  // It was only stopped early.

  const Outlook outlook{account.noise.sigma, measured.design};
  const double seen = std::max(std::abs(c.effect), measured.design.delta);
  const auto quiet = noise_to_show(seen, measured.design.cap, outlook);
  if (quiet && *quiet < 0.9 * account.noise.sigma) {
    ways.push_back(
        fmt::format("a quieter machine: with {} noise per pair instead of {}, an effect of {} "
                    "shows in {}",
                    show_percent(*quiet), show_percent(account.noise.sigma), show_saving(seen),
                    show_count(measured.design.cap, "pair")));
    const double longer = account.noise.sigma / *quiet;
    ways.push_back(
        fmt::format("longer runs: {:.0f} times the work per run, if noise averages out within a "
                    "run",
                    std::ceil(longer * longer)));
    if (!std::ranges::any_of(measured.pairs, &model::PairFact::concurrent) && measured.cpus > 1) {
      ways.push_back("both arms at once, under the same noise: --concurrent");
    }
  }
  if (account.visible_at_cap && *account.visible_at_cap > measured.design.delta) {
    ways.push_back(
        fmt::format("a larger threshold: with --claim {:.0f} a saving below {} counts as none",
                    std::ceil(200 * -std::expm1(-*account.visible_at_cap)),
                    show_saving(*account.visible_at_cap)));
  }
  return ways;
}

}  // namespace amdahl::compare
