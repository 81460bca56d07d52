// graph.h: which sites run in every step, found through the call graph.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "code/facts.h"

namespace amdahl::code {

// How often a site runs, as far as the source shows. In ascending order.
enum class HowOften : std::uint8_t {
  kOnce,    // In no visible loop.
  kLoop,    // In a loop: over epochs, files, layers.
  kLoader,  // Where a batch is made: __getitem__, collate, and their callees.
  kStep,    // In the step loop.
};

// Where the cost of a pattern shows.
enum class Cost : std::uint8_t {
  kHere,       // At its own line; if lines were timed, it must have taken time.
  kElsewhere,  // In something else whose speed it determines.
  kOnlyHere,   // At its own line only, and usually so small that nothing else proves it.
};

std::string_view name(
    HowOften how_often);  // "once", "in a loop", "for each item", "in the step loop".

// Indexed like the sources and their sites.
struct StepMap {
  std::vector<std::vector<HowOften>> sites;  // Per source and site.
  // Per source and site: whether it reaches the model or a launch.
  std::vector<std::vector<bool>> launches;
  std::vector<std::vector<bool>> step_loops;  // Per source and loop.
  bool has_step_loop = false;
};

// Calls are matched to functions by name, so a site may be taken for hotter than it is, never for
// colder; the measured cost decides. Step loops iterate over a loader; without one, they are the
// loops that reach the model or a launch. In C++ without any of these every loop counts.
StepMap step_map_of(const std::vector<Facts>& sources);

}  // namespace amdahl::code
