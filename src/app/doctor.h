// doctor.h: what works here, what is missing, and the command that fixes it.
#pragma once

#include <string>
#include <vector>

#include "app/config.h"

namespace amdahl::app {

struct Symptom {
  std::string name;   // "PyTorch hook".
  std::string state;  // "ok", "missing" (something cannot be done), "absent" (optional).
  std::string detail;
  std::string fix;  // What to type; empty if nothing is to be done.
};

// Looks at everything; needs no ledger and changes nothing.
std::vector<Symptom> examine(const Config& config);

// The same where the configuration may not be readable, which is a symptom too.
std::vector<Symptom> examine(const Overrides& overrides);

// Nothing that is needed is missing.
bool is_well(const std::vector<Symptom>& symptoms);

}  // namespace amdahl::app
