// canary.h: a promoted change watched in production: the rules of the watch and its result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"
#include "model/change.h"
#include "model/hypothesis.h"

namespace amdahl::model {

// Fixed at promotion, before the first watched run.
struct Canary {
  std::string hypothesis;
  std::string family;
  std::string seed;  // Seed of the coin that holds runs back.
  int number = 0;    // 0-based index among the family's canaries.
  int one_in = 10;   // One run in this many is held back (runs without the change); at least 2.
  // Runs with the change after which it is kept unless the evidence is against it.
  int wanted_runs = 200;
  double promised = 0;  // ln(cost before / cost after) at promotion, after shrinkage.
  double sigma = 0.05;  // Noise between neighbouring production runs, in ln.
  int past_runs = 0;    // Runs of the family before the promotion.
  int past_failed = 0;
  // A run is a straggler if ln(its cost / the typical cost) is above this; 0: unknown.
  double straggles_from = 0;
  int past_stragglers = 0;
  Change before;  // The family's promoted changes without and with this change.
  Change after;
  Nanos opened{};

  friend bool operator==(const Canary&, const Canary&) = default;
};

enum class CanaryState : std::uint8_t { kOpen, kKept, kRollbackProposed, kRolledBack };
std::string_view name(CanaryState state);  // "open", "kept", "rollback proposed", "rolled back".
std::optional<CanaryState> canary_state_named(std::string_view name);

struct CanaryResult {
  std::string hypothesis;
  CanaryState outcome = CanaryState::kOpen;  // kOpen: the watch continues.
  std::string because;                       // One sentence with the numbers in it.
  Comparison comparison;  // Held-back runs (A) against neighbouring runs with the change (B).
  double log_e_half = 0;  // Evidence that the change saves at least half of `promised`.
  int runs = 0;           // Finished runs with the change.
  int failed = 0;         // Failed runs among them, including runs that left no record.
  int held_back = 0;      // Finished runs without the change.
  int held_back_failed = 0;
  int running = 0;            // Runs in progress, with and without the change.
  int lost = 0;               // Runs that started and left no record, with and without the change.
  double usual_failures = 0;  // Failure rate without the change.
  double log_e_failing = 0;   // Evidence that the failure rate is higher with the change.
  int stragglers = 0;         // Runs with the change that straggle compared to its typical run.
  double log_e_straggling = 0;

  friend bool operator==(const CanaryResult&, const CanaryResult&) = default;
};

}  // namespace amdahl::model
