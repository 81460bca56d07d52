// graph.h: which places of the sources run in every step, found through the calls between them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "code/facts.h"

namespace amdahl::code {

// How often a place runs, as far as the text tells. Later ones run more often.
enum class HowOften : std::uint8_t {
  kOnce,    // In no loop that we see.
  kLoop,    // In a loop: over epochs, files, layers.
  kLoader,  // Where a batch is made: __getitem__, collate, and what they call.
  kStep,    // In the step loop.
};

// Where the cost of a habit shows.
enum class Cost : std::uint8_t {
  kHere,       // At its own line: where lines were timed, its own must have taken some.
  kElsewhere,  // It sets how something else runs.
  kOnlyHere,   // At its own line, and so little as a rule that nothing else proves it.
};

std::string_view name(
    HowOften how_often);  // "once", "in a loop", "for each item", "in the step loop".

// The same index for a source's facts and for its places.
struct StepMap {
  std::vector<std::vector<HowOften>> sites;   // Of each source, of each of its sites.
  std::vector<std::vector<bool>> launches;    // Likewise: whether it reaches the model or a launch.
  std::vector<std::vector<bool>> step_loops;  // Of each source, of each of its loops.
  bool has_step_loop = false;
};

// Calls are joined to functions by their names, so that a place may be taken for hotter than it is,
// never for cooler; what it costs decides. Step loops are those over a loader; without one, those
// that reach the model or a launch. In C++ without any of these every loop counts.
StepMap step_map_of(const std::vector<Facts>& sources);

}  // namespace amdahl::code
