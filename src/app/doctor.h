// doctor.h: checks the installation: what works, what is missing, and the command that fixes it.
#pragma once

#include <string>
#include <vector>

#include "app/config.h"

namespace amdahl::app {

struct Symptom {
  std::string name;   // "PyTorch hook".
  std::string state;  // "ok", "missing" (something cannot be done), "absent" (optional).
  std::string detail;
  std::string fix;  // Command; empty if none is needed.
};

// Checks everything; needs no ledger and changes nothing.
std::vector<Symptom> examine(const Config& config);

// The same if the configuration may be unreadable, which is reported too.
std::vector<Symptom> examine(const Overrides& overrides);

// Nothing required is missing.
bool is_well(const std::vector<Symptom>& symptoms);

}  // namespace amdahl::app
