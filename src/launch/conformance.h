// conformance.h: tests a launcher against the rules for all launchers, on the real system.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "launch/launcher.h"

namespace amdahl::launch {

struct Rule {
  std::string_view id;    // In reports and tests: never rename.
  std::string_view says;  // For people.
};
std::span<const Rule> rules();

struct Trial {
  std::function<std::unique_ptr<Launcher>()> make;  // As a new process would create it.
  std::string folder;                         // Scratch folder, visible to workers under this path.
  Nanos patience = std::chrono::seconds(60);  // For a very short job, from release to end.
  Nanos watch = std::chrono::seconds(2);      // How long to watch that something does not start.
};

struct Breach {
  std::string rule;  // Rule::id.
  std::string what;  // What happened instead.
};

// Runs about ten short jobs; reports each broken rule at most once. Empty: it conforms.
std::vector<Breach> conformance(const Trial& trial);

}  // namespace amdahl::launch
