#include "canary/explain.h"

#include <cmath>

#include <fmt/core.h>

#include "base/text.h"
#include "canary/canary.h"
#include "compare/explain.h"

namespace amdahl::canary {
namespace {

using compare::show_e;
using compare::show_saving;
using model::CanaryResult;
using model::Comparison;

// Bounds of the share saved, or of the extra cost.
std::string show_bounds(const Comparison& c) {
  const bool dearer = c.effect < 0;
  const double low = dearer ? c.upper : c.lower;
  const double high = dearer ? c.lower : c.upper;
  const auto show = [&](double effect) {
    return dearer ? show_percent(std::expm1(-effect)) : show_saving(effect);
  };
  if (std::isfinite(low) && std::isfinite(high)) {
    return fmt::format("{} to {}", show(low), show(high));
  }
  if (std::isfinite(low)) return fmt::format("at least {}", show(low));
  if (std::isfinite(high)) return fmt::format("at most {}", show(high));
  return "no bound yet";
}

}  // namespace

std::string show_effect(const Comparison& c) {
  if (c.pairs == 0) return "no pair yet";
  const std::string bounds = fmt::format("({}, 95 % confidence each side, {} pair{})",
                                         show_bounds(c), c.pairs, c.pairs == 1 ? "" : "s");
  if (c.effect < 0) {
    return fmt::format("costs {} more {}", show_percent(std::expm1(-c.effect)), bounds);
  }
  return fmt::format("saves {} {}", show_saving(c.effect), bounds);
}

std::string show_failures(const model::Canary& canary, const CanaryResult& r) {
  std::string text =
      fmt::format("{} of {} runs failed with it, {} of {} without", r.failed, r.runs,
                  canary.past_failed + r.held_back_failed, canary.past_runs + r.held_back);
  if (r.lost > 0) text += fmt::format(" ({} left no record)", r.lost);
  return text;
}

std::string explain(const model::Canary& canary, const CanaryResult& r) {
  if (r.log_e_failing >= std::log(kFailingAlarm)) {
    return fmt::format("{}; E for more failures is {}, alarm at {:.0f}", show_failures(canary, r),
                       show_e(r.log_e_failing), kFailingAlarm);
  }
  if (r.log_e_straggling >= std::log(kStragglingAlarm)) {
    return fmt::format(
        "{} of {} runs took {} longer than typical with it, {} of {} before; E for more stragglers "
        "is {}, alarm at {:.0f}",
        r.stragglers, std::min(r.runs - r.failed, canary.wanted_runs),
        show_percent(std::expm1(canary.straggles_from)), canary.past_stragglers,
        canary.past_runs - canary.past_failed, show_e(r.log_e_straggling), kStragglingAlarm);
  }
  if (r.comparison.log_e_worse >= std::log(kSlowerAlarm)) {
    return fmt::format("in production it {}; E for higher cost is {}, alarm at {:.0f}",
                       show_effect(r.comparison), show_e(r.comparison.log_e_worse), kSlowerAlarm);
  }
  if (r.comparison.log_e_futile >= std::log(kBrokenAlarm)) {
    return fmt::format(
        "in production it {}; E for less than half of the promised {} is {}, alarm at {:.0f}",
        show_effect(r.comparison), show_saving(canary.promised), show_e(r.comparison.log_e_futile),
        kBrokenAlarm);
  }
  const std::string seen =
      fmt::format("{}; {}", show_effect(r.comparison), show_failures(canary, r));
  if (r.outcome == model::CanaryState::kKept && r.log_e_half >= std::log(kProven)) {
    return fmt::format(
        "at least half of the promised saving is proven after {} runs (E is {}, threshold {:.0f}): "
        "{}",
        r.runs, show_e(r.log_e_half), kProven, seen);
  }
  if (r.outcome == model::CanaryState::kKept) {
    return fmt::format("no alarm after {} runs: {}", r.runs, seen);
  }
  return fmt::format("{} of {} runs: {}", r.runs, canary.wanted_runs, seen);
}

}  // namespace amdahl::canary
