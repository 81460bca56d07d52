// testing.h: where the reference values of tests are.
#pragma once

#include <cstdlib>
#include <string>

namespace amdahl {

// All of them: $AMDAHL_CORPUS. Without it the few that a checkout holds: tests/golden.
inline std::string golden_folder(const std::string& checkout) {
  const char* corpus = std::getenv("AMDAHL_CORPUS");
  return corpus == nullptr || *corpus == '\0' ? checkout + "/tests/golden" : corpus;
}

}  // namespace amdahl
