#include "loop/verdict.h"

#include <algorithm>

namespace amdahl::loop {

Judged judged(const model::Hypothesis& hypothesis, const std::string& experiment,
              model::VerdictKind kind, const std::string& reason,
              std::optional<model::Comparison> comparison, Nanos now) {
  model::Verdict verdict;
  verdict.hypothesis = hypothesis.id;
  verdict.experiment = experiment;
  verdict.kind = kind;
  verdict.reason = reason;
  verdict.comparison = std::move(comparison);
  verdict.at = now;
  return {verdict};
}

Judged dropped(const model::Hypothesis& idea, const std::string& reason, Nanos now) {
  return judged(idea, "", model::VerdictKind::kDropped, reason, std::nullopt, now);
}

std::vector<Judged> withdrawn(std::span<const model::Hypothesis> waiting,
                              std::span<const model::Hypothesis> carried, Nanos now) {
  std::vector<Judged> all;
  for (const model::Hypothesis& h : waiting) {
    if (std::ranges::find(carried, h.key, &model::Hypothesis::key) != carried.end()) continue;
    all.push_back(judged(h, "", model::VerdictKind::kInvalid,
                         "not tested: the new profile no longer supports it", std::nullopt, now));
  }
  return all;
}

}  // namespace amdahl::loop
