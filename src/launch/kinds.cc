#include <array>

#include "launch/launcher.h"
#include "launch/local/local.h"

namespace amdahl::launch {
namespace {

constexpr auto kKinds = std::to_array<Kind>({
    {"local", "this machine, one detached worker a pair", local::make},
});

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

}  // namespace amdahl::launch
