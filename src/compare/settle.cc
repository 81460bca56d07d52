#include "compare/settle.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/text.h"
#include "compare/power.h"
#include "compare/words.h"
#include "stats/estimate.h"

namespace amdahl::compare {
namespace {

// Of one pair, from those that were completed; 0 if there is none.
double seconds_a_pair(const Tried& tried) {
  std::vector<double> seconds;
  for (const std::vector<model::PairFact>* pairs : {&tried.same, &tried.pairs}) {
    for (const model::PairFact& pair : *pairs) {
      if (pair.voided) continue;
      seconds.push_back(pair.concurrent ? std::max(pair.a.wall_s, pair.b.wall_s)
                                        : pair.a.wall_s + pair.b.wall_s);
    }
  }
  return seconds.empty() ? 0 : stats::median(seconds);
}

std::string time_for(int pairs, const Tried& tried) {
  const double seconds = pairs * seconds_a_pair(tried);
  return seconds > 0 ? fmt::format(", about {}", show_duration(from_seconds(seconds))) : "";
}

std::string more_pairs(const Account& account) {
  const Tried& tried = account.tried;
  const int done = account.comparison.pairs;
  const int more = *account.pairs_to_settle;
  // A little more than typical, in tens: a cap that is met by half of all cases helps little.
  const int cap = std::max(tried.design.cap, (done + more + more / 2 + 9) / 10 * 10);
  std::string text =
      fmt::format("about {} more{}", show_count(more, "pair"), time_for(more, tried));
  if (tried.resume.empty()) return text;
  text += fmt::format("; type: {}", tried.resume);
  if (cap > tried.design.cap) text += fmt::format(" --pairs {}", cap);
  return text;
}

}  // namespace

std::vector<std::string> what_settles(const Account& account) {
  const Tried& tried = account.tried;
  const model::Comparison& c = account.comparison;
  if (c.answer != model::Answer::kCannotTell) return {};
  std::vector<std::string> ways;
  if (c.pairs == 0) {
    if (!tried.resume.empty()) ways.push_back(fmt::format("pairs; type: {}", tried.resume));
    return ways;
  }
  constexpr int kTooMany = 2000;
  const bool few = account.pairs_to_settle && *account.pairs_to_settle <= kTooMany;
  if (few) {
    ways.push_back(more_pairs(account));
  } else {
    ways.push_back(
        fmt::format("not more pairs alone: what is seen, {}, is too near to {}, from "
                    "where on a difference matters",
                    show_saving(std::abs(c.effect)), show_saving(tried.design.delta)));
  }
  if (c.pairs < tried.design.cap && few) return ways;  // It was only stopped early.

  const Outlook outlook{account.noise.sigma, tried.design};
  const double seen = std::max(std::abs(c.effect), tried.design.delta);
  const auto quiet = noise_to_show(seen, tried.design.cap, outlook);
  if (quiet && *quiet < 0.9 * account.noise.sigma) {
    ways.push_back(
        fmt::format("a quieter machine: {} of noise a pair instead of {} would show "
                    "an effect of {} in {}",
                    show_percent(*quiet), show_percent(account.noise.sigma), show_saving(seen),
                    show_count(tried.design.cap, "pair")));
    const double longer = account.noise.sigma / *quiet;
    ways.push_back(
        fmt::format("longer runs: {:.0f} times the work in each, if the noise of a "
                    "run evens out over its length",
                    std::ceil(longer * longer)));
    if (!std::ranges::any_of(tried.pairs, &model::PairFact::concurrent) && tried.cpus > 1) {
      ways.push_back("both arms at once, where they meet the same noise: --concurrent");
    }
  }
  if (account.visible_at_cap && *account.visible_at_cap > tried.design.delta) {
    ways.push_back(fmt::format("asking for less: --claim {:.0f} takes a saving below {} as none",
                               std::ceil(200 * -std::expm1(-*account.visible_at_cap)),
                               show_saving(*account.visible_at_cap)));
  }
  return ways;
}

}  // namespace amdahl::compare
