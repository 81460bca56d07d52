#include "refute/dose/dose.h"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "stats/spearman.h"

namespace amdahl::refute::dose {
namespace {

constexpr std::size_t kAtLeast = 3;
constexpr double kEnoughRho = 0.5;

std::string describe(std::vector<Dose> doses) {
  std::ranges::stable_sort(doses, {}, &Dose::value);
  std::vector<std::string> all;
  for (const Dose& dose : doses) {
    all.push_back(fmt::format("{} at {}", show_effect(dose.effect), dose.value));
  }
  return join(all, ", ");
}

std::string explain(const Evidence& evidence, std::optional<double> rho) {
  const std::string& knob = evidence.doses.front().knob;
  const std::string head = fmt::format("{}: {}", knob, describe(evidence.doses));
  if (evidence.doses.size() < kAtLeast) {
    return fmt::format("{}; at least {} values are needed", head, kAtLeast);
  }
  if (!rho) return fmt::format("{}; the values or the effects do not differ", head);
  return fmt::format("{}; rank correlation {:+.2f} over {}; at least {:+.1f} is required", head,
                     *rho, count(evidence.doses.size(), "value"), kEnoughRho);
}

}  // namespace

Ruling rule(std::span<const double> doses, std::span<const double> effects) {
  if (doses.size() < kAtLeast) return kAbstains;
  const std::optional<double> rho = stats::spearman(doses, effects);
  if (!rho) return kAbstains;
  if (*rho >= kEnoughRho) return kAgrees;
  return *rho <= -kEnoughRho ? kDoubts : kAbstains;
}

model::Finding run(const Evidence& evidence) {
  if (!applies(evidence)) return finding(kAbstains, "the knob was tested at one value only");
  std::vector<double> doses;
  std::vector<double> effects;
  for (const Dose& dose : evidence.doses) {
    doses.push_back(dose.value);
    effects.push_back(dose.effect);
  }
  return finding(rule(doses, effects), explain(evidence, stats::spearman(doses, effects)));
}

bool applies(const Evidence& evidence) { return evidence.doses.size() > 1; }

}  // namespace amdahl::refute::dose
