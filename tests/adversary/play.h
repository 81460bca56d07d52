// play.h: one seed from its beginning to its end, through the real loop and the real ledger.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "scenario.h"

namespace amdahl::adversary {

// What became of one change.
struct Ending {
  std::string title;
  bool counts = false;  // An honest win of 10 % or more that nothing kept from being promoted.
  std::string state;    // "promoted", "parked", "held", "at the gate", "refuted", …
  std::string because;
};

struct Story {
  std::uint64_t seed = 0;
  std::string made;                     // What was generated.
  std::string told;                     // What the cycles said, a line each.
  std::vector<std::string> violations;  // Each begins with its class: "false promotion: …".
  std::vector<Ending> endings;
  double cpu_s = 0;
};

// `folder` is made anew and removed again. Forks: call it from a process of one thread.
Story play(std::uint64_t seed, const std::string& folder, const Mode& mode);

}  // namespace amdahl::adversary
