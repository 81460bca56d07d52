#include "dream/classes.h"

#include <algorithm>
#include <set>
#include <string>

namespace amdahl::dream {

double share_of_class(const model::Profile& profile, model::Bottleneck bottleneck) {
  double sum = 0;
  for (const model::Cause& cause : profile.causes) {
    if (cause.bottleneck == bottleneck && cause.share > 0) sum += cause.share;
  }
  return std::min(sum, 0.99);
}

std::vector<model::Hypothesis> best_of_each(std::vector<model::Hypothesis> hypotheses) {
  std::ranges::stable_sort(hypotheses, std::ranges::greater{},
                           [](const model::Hypothesis& h) { return h.prior * h.predicted_gain; });
  std::set<std::string> keys;
  std::erase_if(hypotheses, [&](const model::Hypothesis& h) { return !keys.insert(h.key).second; });
  return hypotheses;
}

}  // namespace amdahl::dream
