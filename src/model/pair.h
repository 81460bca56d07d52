// pair.h: one pair from order to result, as loop, launcher and ledger share it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "model/change.h"
#include "model/receipt.h"

namespace amdahl::model {

enum class PairState : std::uint8_t { kOrdered, kReserved, kSubmitted, kCollected, kVoid };
std::string_view name(PairState state);  // "ordered", "reserved", ...
std::optional<PairState> pair_state_named(std::string_view name);

// What a pair is for. `target`: the check that asked for a top-up, the digest of the stack, the
// hypothesis that races, or the worktree that is built.
struct Aim {
  Purpose purpose = Purpose::kCompare;
  std::string target{};

  friend bool operator==(const Aim&, const Aim&) = default;
};
std::string text_of(const Aim& aim);  // As stored in the ledger: "compare", "top-up:order".
std::optional<Aim> aim_in(std::string_view text);

// Whether such pairs count as evidence: randomised by the coin and not selected.
bool feeds_evidence(Purpose purpose);

// Another variant of the family that shares the baseline's run.
struct SharedVariant {
  std::string experiment;
  Aim aim;
  int index = 0;
  bool variant_second = false;
  Change change;  // On top of the spec, like Pair::b.
};

struct Pair {
  PairState state = PairState::kOrdered;

  // Set when ordered: everything except where and when.
  std::string family;
  std::string experiment;  // Empty for A/A, stack, race, build and profile runs.
  Aim aim;
  int index = 0;  // Index of the coin; unique per experiment (or family) and aim.
  bool variant_second = false;
  bool concurrent = false;  // Both arms run at the same time.
  bool steps = false;       // Both arms in one process, alternating by step.
  bool contended = false;   // With neighbours placed on its slots.
  std::string stratum;
  // The arms on top of the spec, and further variants. After reservation see `request`.
  Change a;
  Change b;
  std::vector<SharedVariant> shared;
  std::vector<int> order;  // Order of a block's arms: 0 baseline, 1 variant, then `shared`.

  // Set when reserved.
  std::string reservation;
  std::string block;     // Reservation whose run it shares; empty: its own.
  int arm = 1;           // Which of the block's arms is its variant.
  std::string schedule;  // Order of the steps.
  std::string commit;    // Commit that patches apply to; empty without patches.
  std::vector<int> cpus;
  double reserved_accelerator_s = 0;
  Nanos at{};           // Time of the reservation.
  std::string request;  // JSON of launch::PairRequest: enough to recover after a crash.

  // Set when submitted.
  std::string worker_run_id;

  // Set when it ended. Lost pairs and profile runs have no fact.
  double spent_accelerator_s = 0;
  std::optional<PairFact> fact;
};

// As people read it, before the idea's title: "fresh pair 4", "targeted pair 9 (order)", "profile
// 1".
std::string label_of(const Pair& run);

bool in_flight(const Pair& pair);  // Reserved or submitted.

// The pair of a further variant in the block of `leader`, as ordered.
Pair pair_of(const SharedVariant& variant, const Pair& leader);

}  // namespace amdahl::model
