// libFuzzer's side: the target is named in AMDAHL_FUZZ_TARGET, because libFuzzer owns the
// arguments.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "targets.h"

namespace {
const amdahl::fuzz::Target* target = nullptr;
}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("AMDAHL_FUZZ_TARGET");
  target = amdahl::fuzz::find_target(name == nullptr ? "" : name);
  if (target != nullptr) return 0;
  for (const auto& each : amdahl::fuzz::targets()) {
    std::printf("%.*s\n", static_cast<int>(each.name.size()), each.name.data());
  }
  std::exit(name == nullptr ? 0 : 2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  target->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
