// conformance.h: what every launcher must do, tried on the real place.
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
  std::string_view id;    // Named by reports and tests: never renamed.
  std::string_view says;  // As people read it.
};
std::span<const Rule> rules();

struct Trial {
  std::function<std::unique_ptr<Launcher>()> make;  // As a new process would.
  std::string folder;                               // Scratch that workers see under this path.
  Nanos patience = std::chrono::seconds(60);  // For a job of a moment, from its release to its end.
  Nanos watch = std::chrono::seconds(2);      // How long we look at what must not start.
};

struct Breach {
  std::string rule;  // Rule::id.
  std::string what;  // What happened instead.
};

// Runs about ten short jobs; each rule is reported once at most. Empty: it conforms.
std::vector<Breach> conformance(const Trial& trial);

}  // namespace amdahl::launch
