#include "hypothesize/priors.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "base/count.h"
#include "base/text.h"
#include "model/effect.h"

namespace amdahl::hypothesize {
namespace {

using model::VerdictKind;

constexpr double kDay = 24 * 3600;

std::string saved(double log_effect) { return show_percent(1 - std::exp(-log_effect)); }

std::string numbers_of(const model::Verdict& verdict) {
  if (!verdict.comparison || verdict.comparison->pairs == 0) return "not measured";
  const model::Comparison& c = *verdict.comparison;
  return fmt::format("saved {} in {}", saved(c.effect), counted(c.pairs, "pair"));
}

}  // namespace

std::string_view kind_of(const model::Change& change) {
  const auto present = std::to_array<std::pair<std::string_view, bool>>(
      {{"env", !change.env.empty()},
       {"args", !change.args.empty()},
       {"config", !change.config.empty()},
       {"accelerators", change.accelerators.has_value()},
       {"wrap", !change.wrap.empty()},
       {"inject", !change.inject.empty()},
       {"patch", !change.patch.empty()}});
  const auto many = std::ranges::count(present, true, &std::pair<std::string_view, bool>::second);
  if (many > 1) return "mixed";
  const auto only = std::ranges::find(present, true, &std::pair<std::string_view, bool>::second);
  return only == present.end() ? "env" : only->first;
}

void Priors::learn(const model::Hypothesis& hypothesis, std::string_view state, Nanos since) {
  constexpr auto kTested = std::to_array<std::string_view>(
      {"promoted", "refuted", "no effect", "harmful", "declined", "inconclusive"});
  if (std::ranges::find(kTested, state) == kTested.end()) return;
  const double days = std::max(0.0, to_seconds(now_ - since)) / kDay;
  double weight = std::exp2(-days / kHalfLifeDays);
  if (model::is_for_other_hardware(hypothesis.key, hardware_)) weight *= kOtherHardware;
  Cell& cell = cells_[{hypothesis.bottleneck, std::string(kind_of(hypothesis.change))}];
  cell.tried += weight;
  // What a person declined had been proven.
  if (state == "promoted" || state == "declined") cell.won += weight;
}

double Priors::chance_of(const model::Hypothesis& hypothesis) const {
  const auto cell = cells_.find({hypothesis.bottleneck, std::string(kind_of(hypothesis.change))});
  if (cell == cells_.end()) return hypothesis.prior;
  return (kPriorTrials * hypothesis.prior + cell->second.won) / (kPriorTrials + cell->second.tried);
}

Lesson lesson_of(const model::Hypothesis& h, const model::Verdict& verdict) {
  const std::string change = model::describe(h.change);
  const std::string against(model::describe(h.bottleneck));
  const std::string head =
      fmt::format("{} {} against {}: {} ({}, predicted {})", h.family, clip(change, 80), against,
                  model::name(verdict.kind), numbers_of(verdict), show_percent(h.predicted_gain));
  switch (verdict.kind) {
    case VerdictKind::kPromoted:
      return {head,
              {fmt::format("the same in other families that spend time on {}", against),
               "values beyond this one, and the cause that is largest now"}};
    case VerdictKind::kHarmful:
      return {head, {"the opposite direction of the same setting"}};
    case VerdictKind::kNoEffect:
      return {head,
              {fmt::format("another mechanism against {}, or a measured ceiling of it", against)}};
    case VerdictKind::kRefuted:
      return {fmt::format("{}: {}", head, clip(verdict.reason, 200)),
              {"the same idea without what the check found"}};
    case VerdictKind::kInvalid:
      return {fmt::format("{}: {}", head, clip(verdict.reason, 200)),
              {"a smaller change that runs and keeps the results"}};
    case VerdictKind::kInconclusive:
    case VerdictKind::kDropped:
      return {head, {"together with another change of the same kind, or on a quieter host"}};
    case VerdictKind::kDeclined:
      return {fmt::format("{}: {}", head, clip(verdict.reason, 200)), {}};
    case VerdictKind::kAborted:
      break;
  }
  return {head, {}};
}

}  // namespace amdahl::hypothesize
