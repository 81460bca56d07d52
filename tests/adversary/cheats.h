// cheats.h: ways in which a changed job can look better than it is, one row each.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/receipt.h"
#include "scenario.h"
#include "sim/random.h"

namespace amdahl::adversary {

// What one run does, before anyone looks at it.
struct Act {
  double wall_s = 0;
  double cpu_s = 0;
  std::optional<double> items;            // As it reports them.
  std::map<std::string, double> metrics;  // The same.
  std::string report;                     // Lines of its report besides these.
  std::optional<std::string> output;      // Nothing: it leaves none.
  bool old_output = false;                // The file is one that lay there before it started.
  model::Ending ending = model::Ending::kExited;
  int code = 0;
  int left_behind = 0;
  bool kills_worker = false;
  bool spoils_other = false;  // Damages the receipt of the arm before it.
};

// What jobs leave from run to run; in memory that outlives the process.
struct Memory {
  int poison = 0;       // The next run of another arm finds its caches emptied.
  double poisoned = 0;  // By so much, in ln.
  int cached = -1;      // Input that the variant keeps an answer for.
};

struct Scene {
  const Job& job;
  const Variant& me;
  sim::Stream& luck;
  Memory& memory;
  bool after_other = false;  // The baseline ran before, in the same pair.
  bool warm = false;         // Any other arm did.
  int input = 0;             // Which input there is now.
  std::string stratum;
  Act& act;
};

struct Cheat {
  std::string_view name;
  void (*act)(Scene&);
  bool (*fits)(const Job&);          // Null: any job.
  double (*effect)(const Variant&);  // ln in production; null: that by honest means.
  bool virtual_only = false;         // The real job does not do it.
};
std::span<const Cheat> cheats();

// What the change does to the cost in production, in ln.
double true_effect(const Variant& variant);
// Whether it may be promoted at all: what it gives is what the job gave before.
bool sound(const Variant& variant);

// What a run of the job gives for an input, when nothing cheats.
std::string right_output(int input, double items);

}  // namespace amdahl::adversary
