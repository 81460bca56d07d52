// rivals.h: other ways to decide, applied to the same simulated jobs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "sim/drive.h"

namespace amdahl::sim {

struct Rival {
  std::string_view name;
  std::string_view says;
  // Draws as many pairs as it wants; returns whether it promotes. `draw` gives the next log-ratio.
  bool (*decide)(const std::function<double()>& draw);
};
std::span<const Rival> rivals();

// Each hypothesis of the campaign on its own, decided by the rival.
Campaign run_rival(const Rival& rival, const Setup& setup, std::uint64_t seed);

}  // namespace amdahl::sim
