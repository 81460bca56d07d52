// pair.h: one pair from its order to its fact: the loop orders it, the ledger keeps it, the
// launcher runs it.
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

// What a pair is for. `target` is the check that asked for a top-up, or the digest of the stack.
struct Aim {
  Purpose purpose = Purpose::kCompare;
  std::string target{};

  friend bool operator==(const Aim&, const Aim&) = default;
};
std::string text_of(const Aim& aim);  // As the ledger keeps it: "compare", "top-up:order".
std::optional<Aim> aim_in(std::string_view text);

// Whether such pairs are evidence of the effect: a coin placed them, and they are not chosen.
bool feeds_evidence(Purpose purpose);

// A further variant of the family that shares the baseline's run.
struct SharedVariant {
  std::string experiment;
  Aim aim;
  int index = 0;
  bool variant_second = false;
  Change change;  // On top of the spec, as Pair::b.
};

struct Pair {
  PairState state = PairState::kOrdered;

  // Ordered: everything but where and when.
  std::string family;
  std::string experiment;  // Empty for A/A, stack and profile runs.
  Aim aim;
  int index = 0;  // Of the coin, unique with (experiment or family, aim).
  bool variant_second = false;
  bool concurrent = false;  // Both arms at once.
  bool steps = false;       // Both arms in one process, step by step.
  bool contended = false;   // With neighbours on its slots.
  std::string stratum;
  // The arms on top of the spec, and further variants; once it is reserved, `request` has them.
  Change a;
  Change b;
  std::vector<SharedVariant> shared;
  std::vector<int> order;  // Of a block's arms: 0 is the baseline, 1 the variant, then `shared`.

  // Reserved.
  std::string reservation;
  std::string block;     // The reservation whose run it shares; empty for its own.
  int arm = 1;           // Which of the block's arms is its variant.
  std::string schedule;  // Of the steps.
  std::string commit;    // That patches are applied to; empty if there are none.
  std::vector<int> cpus;
  double reserved_accelerator_s = 0;
  Nanos at{};           // When it was reserved.
  std::string request;  // JSON of launch::PairRequest, so that a crash loses nothing.

  // Submitted.
  std::string worker_run_id;

  // Ended. A lost pair and a profile have no fact.
  double spent_accelerator_s = 0;
  std::optional<PairFact> fact;
};

bool in_flight(const Pair& pair);  // Reserved or submitted.

// The pair of a block's further variant, as it is ordered with `leader`.
Pair pair_of(const SharedVariant& variant, const Pair& leader);

}  // namespace amdahl::model
