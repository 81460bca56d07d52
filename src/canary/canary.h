// canary.h: production runs in, whether a promoted change keeps its place out. Does no I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/canary.h"
#include "model/usage.h"

namespace amdahl::canary {

inline constexpr double kSlowerAlarm = 20;       // E; a false alarm in one canary of 20 at most.
inline constexpr double kFailingAlarm = 100;     // E; in one of 100.
inline constexpr double kStragglingAlarm = 100;  // E; in one of 100.
inline constexpr double kBrokenAlarm = 20;       // E that less than half of the promise is kept.
inline constexpr double kProven = 20;            // E that half of the promise is kept.
inline constexpr int kPatience = 5;              // Times the wanted runs, where that is not proven.

// The watched runs of a family are numbered as they start, on each host from 0, and cut into
// blocks of `one_in`. In each block a canary has a couple of neighbouring slots of its own, at a
// place drawn at random, and a fair coin holds the change back in one of the two. So the sign of
// their difference is the coin if the change does nothing, whatever the hours, hosts, inputs and
// neighbours did; and one run in `one_in` goes without the change.
struct Couple {
  int first = 0;  // Slots first and first + 1.
  bool second_held_back = false;

  int held_back() const { return first + (second_held_back ? 1 : 0); }
  int partner() const { return first + (second_held_back ? 0 : 1); }
};
Couple couple_of(const model::Canary& canary, std::string_view host, int block);

// The hypothesis that the run in this slot must go without; nothing: it runs with the whole stack.
// `open` are the open canaries of the family, oldest first; where two want one slot the older has
// it, and the other's couple of that block is lost.
std::optional<std::string> held_back(std::span<const model::Canary> open, std::string_view host,
                                     int slot);

enum class RunState : std::uint8_t {
  kEnded,
  kRunning,
  kLost,  // It started, and whoever watched it is gone without a record.
};

// A watched run; `usage.canary` says what it ran with.
struct Watched {
  model::Usage usage;  // Its utilisation is not looked at, its end only if it has ended.
  RunState state = RunState::kEnded;
};

// What the runs say, at any peek. `runs`: the watched ones of the family, in any order; those from
// before the canary are passed over. Rules:
// - slower: E of the couples for "dearer than without it" reaches kSlowerAlarm; couples count up to
//   the first on their host that is not over, so that a slow run cannot be left out for being slow;
// - failing: E for "fails more often than usual" reaches kFailingAlarm, where usual is the rate of
//   earlier and held-back runs, (failed + 1) / (runs + 2); a lost run failed;
// - straggling: E for "runs take far longer than is typical half as often again as before"
//   reaches kStragglingAlarm. Typical is the median of the runs with the change: one that helps
//   most inputs and hurts a few has a longer tail, whatever the inputs of the week;
// - broken promise: E of the couples for "saves less than half of what was promised" reaches
//   kBrokenAlarm: what looked like a win in the experiment alone is none here;
// - else kept when half of wanted_runs with the change have ended and E for "saves at least half of
//   what was promised" has reached kProven, or when kPatience times wanted_runs have ended and no
//   couple that is over waits for an earlier one that is not; and open until then. Stragglers are
//   looked for in the first wanted_runs.
// The comparison's `delta` is half of what was promised: log_e_futile is evidence for less.
model::CanaryResult judge(const model::Canary& canary, std::span<const Watched> runs);
// The same outcome without bounds and words: microseconds, for who looks after every run.
model::CanaryResult peek(const model::Canary& canary, std::span<const Watched> runs);

// What is far longer than typical, and how many of these runs were; nothing with fewer than 50 that
// succeeded.
struct Tail {
  double straggles_from = 0;  // As in model::Canary.
  int stragglers = 0;
};
std::optional<Tail> tail_of(std::span<const model::Usage> past);

// Noise between neighbouring runs of one host, from runs before the canary; nothing with fewer
// than six neighbours.
std::optional<double> noise_of(std::span<const model::Usage> past);

}  // namespace amdahl::canary
