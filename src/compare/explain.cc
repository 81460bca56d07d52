#include "compare/explain.h"

#include <cmath>

#include <fmt/core.h>

#include "base/amount.h"
#include "base/text.h"

namespace amdahl::compare {
namespace {

using model::Answer;
using model::Comparison;

std::string show_effect(double effect) {
  if (effect < 0) return fmt::format("costs {} more", show_percent(std::expm1(-effect)));
  return fmt::format("saves {}", show_saving(effect));
}

std::string show_interval(const Comparison& c, const Design& design) {
  const bool below = std::isfinite(c.lower);
  const bool above = std::isfinite(c.upper);
  const std::string sure = show_sureness(design.bound_level);
  if (below && above) {
    return fmt::format("{} to {} saved, {} confidence each side", show_saving(c.lower),
                       show_saving(c.upper), sure);
  }
  if (below) return fmt::format("at least {} saved, {} confidence", show_saving(c.lower), sure);
  if (above) return fmt::format("at most {} saved, {} confidence", show_saving(c.upper), sure);
  return "no bound yet";
}

std::string what_is_missing(const Comparison& c, const Design& design) {
  if (c.pairs < design.cap) {
    return fmt::format("about {} may decide it", show_count(pairs_still_needed(c, design),
                                                            c.pairs == 0 ? "pair" : "more pair"));
  }
  if (!std::isfinite(c.smallest_visible)) {
    return fmt::format("the limit of {} is reached without any bound",
                       show_count(design.cap, "pair"));
  }
  return fmt::format("the limit of {} is reached, too few to show an effect below {}",
                     show_count(design.cap, "pair"), show_saving(c.smallest_visible));
}

std::string explain_same(const Comparison& c, const Design& design, const std::string& seen) {
  const std::string saves =
      fmt::format("{}; evidence that it saves less than {}: E is {}, threshold {}", seen,
                  show_saving(design.delta), show_e(c.log_e_futile), show_size(1 / design.beta));
  return design.two_sided ? saves + "; the same threshold is passed for costs" : saves;
}

}  // namespace

std::string show_saving(double effect) {
  const double share = -std::expm1(-effect);
  return show_percent(std::abs(share) < 0.0005 ? 0 : share);  // Never "-0.0 %".
}

std::string show_count(int n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string show_sureness(double level) { return fmt::format("{:.6g} %", 100 * (1 - level)); }

std::string show_e(double log_e) {
  if (log_e > std::log(1e6)) return "> 1,000,000";
  return show_amount(std::exp(log_e));
}

std::string show_p(double p) {
  if (p < 1e-4) return "p < 0.0001";
  return fmt::format("p = {:.{}f}", p, p < 1e-3 ? 4 : p < 0.1 ? 3 : 2);
}

std::string explain(const Comparison& c, const Design& design) {
  const std::string levels = fmt::format(
      "E is {} for better (threshold {}) and {} for no effect "
      "(threshold {})",
      show_e(c.log_e_win), show_size(design.win_threshold), show_e(c.log_e_futile),
      show_size(1 / design.beta));
  if (c.pairs == 0) return fmt::format("no valid pair yet: {}", what_is_missing(c, design));
  const std::string seen = fmt::format("{} ({}) over {}", show_effect(c.effect),
                                       show_interval(c, design), show_count(c.pairs, "pair"));
  switch (c.answer) {
    case Answer::kBetter:
      return fmt::format("{}; E for better is {}, threshold {}", seen, show_e(c.log_e_win),
                         show_size(design.win_threshold));
    case Answer::kWorse:
      return fmt::format("{}; E for worse is {}, threshold {}", seen, show_e(c.log_e_worse),
                         show_size(design.win_threshold));
    case Answer::kSame:
      return explain_same(c, design, seen);
    case Answer::kCannotTell:
      break;
  }
  return fmt::format("{}; {}; {}", seen, levels, what_is_missing(c, design));
}

}  // namespace amdahl::compare
