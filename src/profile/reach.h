// reach.h: how much of a cause a fix can be expected to remove, and the order that follows.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/profile.h"

namespace amdahl::profile {

// Evidence: imports of installed packages that the run needs. Hardly any fix removes them.
inline constexpr const char* kNeededImports = "needed_import_share";

// Evidence: imports that were found to be for nothing.
inline constexpr const char* kNeedlessImports = "needless_import_share";

// Whether imports or the rest of the start are a part of it.
bool is_of_start(const model::Cause& cause);

// The part of the cause's share that a fix can reasonably reach; the ceiling is what none exceeds.
double expected_share(const model::Cause& cause, const std::map<std::string, double>& evidence);

// The speed-up without that part, of the run as it was.
double expected_gain(const model::Cause& cause, const std::map<std::string, double>& evidence);

// Most to gain first.
void rank(std::vector<model::Cause>& causes, const std::map<std::string, double>& evidence);

}  // namespace amdahl::profile
