// canary.h: a promoted change watched in production: the terms of the watch, and what was seen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"
#include "model/change.h"
#include "model/hypothesis.h"

namespace amdahl::model {

// Fixed with the promotion, before the first run.
struct Canary {
  std::string hypothesis;
  std::string family;
  std::string seed;       // Of its coins.
  int number = 0;         // Among the canaries of its family, from 0.
  int one_in = 10;        // Of so many runs one is held back; 2 at least.
  int wanted_runs = 200;  // With the change; after them it is kept if nothing speaks against it.
  double promised = 0;    // ln(cost before / cost after) as promoted, shrunk.
  double sigma = 0.05;    // Noise between neighbouring production runs.
  int past_runs = 0;      // Of the family before the promotion, and how many of them failed.
  int past_failed = 0;
  // A run that took so much more than the typical one, in ln, straggles; 0: nobody can tell.
  double straggles_from = 0;
  int past_stragglers = 0;
  Change before;  // The family's stack without the change, and with it.
  Change after;
  Nanos opened{};

  friend bool operator==(const Canary&, const Canary&) = default;
};

enum class CanaryState : std::uint8_t { kOpen, kKept, kRollbackProposed, kRolledBack };
std::string_view name(CanaryState state);  // "open", "kept", "rollback proposed", "rolled back".
std::optional<CanaryState> canary_state_named(std::string_view name);

struct CanaryResult {
  std::string hypothesis;
  CanaryState outcome = CanaryState::kOpen;  // Open: it goes on.
  std::string because;                       // One sentence with the numbers in it.
  Comparison comparison;  // Held-back runs (A) beside their neighbours with the change (B).
  double log_e_half = 0;  // Evidence that it saves at least half of what was promised.
  int runs = 0;           // Ended, with the change.
  int failed = 0;         // Of them, those that left no record included.
  int held_back = 0;      // Ended, without the change.
  int held_back_failed = 0;
  int running = 0;            // Of both.
  int lost = 0;               // Of both: started, and gone without a record.
  double usual_failures = 0;  // The share of runs that fail without the change.
  double log_e_failing = 0;   // Evidence that more of them fail with it.
  int stragglers = 0;         // With the change, by what is typical of it.
  double log_e_straggling = 0;

  friend bool operator==(const CanaryResult&, const CanaryResult&) = default;
};

}  // namespace amdahl::model
