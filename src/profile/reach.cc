#include "profile/reach.h"

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "scan/anatomy.h"

namespace amdahl::profile {

bool is_of_start(const model::Cause& cause) {
  const auto names = split(cause.name, ',');
  return std::ranges::any_of(names, [](std::string_view name) {
    return trim(name) == "imports" || trim(name) == "start-up";
  });
}

double expected_share(const model::Cause& cause, const std::map<std::string, double>& evidence) {
  const auto needed = evidence.find(kNeededImports);
  if (needed == evidence.end() || !is_of_start(cause)) return cause.share;
  return std::max(0.0, cause.share - needed->second);
}

double expected_gain(const model::Cause& cause, const std::map<std::string, double>& evidence) {
  return scan::ceiling_of(expected_share(cause, evidence));
}

void rank(std::vector<model::Cause>& causes, const std::map<std::string, double>& evidence) {
  std::ranges::stable_sort(causes, std::ranges::greater{}, [&](const model::Cause& cause) {
    return expected_share(cause, evidence);
  });
}

}  // namespace amdahl::profile
