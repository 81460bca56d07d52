// testing.h: locates the reference values of tests.
#pragma once

#include <cstdlib>
#include <string>

namespace amdahl {

// $AMDAHL_CORPUS; without it, the small set in the checkout: tests/golden.
inline std::string golden_folder(const std::string& checkout) {
  const char* corpus = std::getenv("AMDAHL_CORPUS");
  return corpus == nullptr || *corpus == '\0' ? checkout + "/tests/golden" : corpus;
}

}  // namespace amdahl
