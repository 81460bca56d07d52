// canary.h: decides from production runs whether a promoted change stays. Does no I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/canary.h"
#include "model/usage.h"

namespace amdahl::canary {

inline constexpr double kSlowerAlarm = 20;       // E; false alarms in at most 1 canary of 20.
inline constexpr double kFailingAlarm = 100;     // E; in at most 1 of 100.
inline constexpr double kStragglingAlarm = 100;  // E; in at most 1 of 100.
inline constexpr double kBrokenAlarm = 20;       // E for less than half of the promised saving.
inline constexpr double kProven = 20;            // E for at least half of the promised saving.
inline constexpr int kPatience = 8;              // Times wanted_runs, if that is not proven.

// The watched runs of a family are numbered in order of start, per host from 0, and divided into
// blocks of `one_in`. In each block a canary gets two neighbouring slots at a random position, and
// a fair coin holds the change back in one of the two. If the change does nothing, the sign of
// their difference is that coin, whatever the time, host, input or load. One run in `one_in` goes
// without the change.
struct SlotPair {
  int first = 0;  // Slots first and first + 1.
  bool second_held_back = false;

  int held_back() const { return first + (second_held_back ? 1 : 0); }
  int partner() const { return first + (second_held_back ? 0 : 1); }
};
SlotPair slot_pair_of(const model::Canary& canary, std::string_view host, int block);

// The hypothesis that the run in this slot must go without; nothing: it runs with the whole stack.
// `open` are the family's open canaries, oldest first. If two want the same slot, the older gets it
// and the other loses its pair of that block.
std::optional<std::string> held_back(std::span<const model::Canary> open, std::string_view host,
                                     int slot);

enum class RunState : std::uint8_t {
  kEnded,
  kRunning,
  kLost,  // It started, and its watcher ended without a record.
};

// A watched run; `usage.canary` says what it ran with.
struct Watched {
  model::Usage usage;  // Utilisation is not used; the end only if the run has ended.
  RunState state = RunState::kEnded;
};

// The result so far; valid whenever it is read. `runs`: the family's watched runs in any order;
// those from before the canary are skipped. Rules:
// - slower: E of the pairs for "costs more with it" reaches kSlowerAlarm; pairs count up to the
//   first unfinished one on their host, so that a slow run is not left out for being slow;
// - failing: E for "fails more often than usual" reaches kFailingAlarm, where usual is the highest
//   rate that earlier and held-back runs leave possible (stats::rate_at_most); a lost run failed;
// - straggling: E for "1.5 times as many runs as before take far longer than typical" reaches
//   kStragglingAlarm. Typical is the median of the runs with the change: a change that helps most
//   inputs and hurts a few has a longer tail, whatever the mix of inputs;
// - broken promise: E of the pairs for "saves less than half of the promise" reaches kBrokenAlarm:
//   the win of the experiment does not hold in production;
// - otherwise kept when half of wanted_runs with the change have ended, E for "saves at least half
//   of the promise" has reached kProven and E for failing and straggling are at most 1, or when
//   kPatience times wanted_runs have ended and no finished pair waits for an earlier unfinished
//   one; open until then. Stragglers are counted in the first wanted_runs.
// The comparison's `delta` is half of the promise: log_e_futile is evidence for less.
model::CanaryResult judge(const model::Canary& canary, std::span<const Watched> runs);
// The same outcome without bounds and text, in microseconds: for a check after every run.
model::CanaryResult peek(const model::Canary& canary, std::span<const Watched> runs);

// The threshold for stragglers, and how many of these runs passed it; nothing with fewer than 50
// successful runs.
struct Tail {
  double straggles_from = 0;  // As in model::Canary.
  int stragglers = 0;
};
std::optional<Tail> tail_of(std::span<const model::Usage> past);

// Noise between neighbouring runs of one host, from runs before the canary; nothing with fewer
// than six neighbours.
std::optional<double> noise_of(std::span<const model::Usage> past);

}  // namespace amdahl::canary
