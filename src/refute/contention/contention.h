// contention.h: whether the win holds both on busy and on quiet hosts.
#pragma once

#include <cstdint>
#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::contention {

enum class State : std::uint8_t { kQuiet, kBusy, kUnknown };

// The load on the pair's host. Busy: we started load processes, or other processes took CPU from
// both arms. Unknown if the load differed between the arms: the host check handles that.
State state_of(const model::PairFact& pair);

// The state of most coin-randomised pairs.
State found_in(const Evidence& evidence);

// Agrees if at least half of the claim holds in both states, or if the loss in one state is smaller
// than the saving in the other, weighted by the fleet's hours. Otherwise it refutes softly, never
// decisively: a claim that holds in one state is true there.
// Four pairs of each state are needed, or two that each show half of a claim of two `sigma`.
Ruling rule(std::span<const double> quiet, std::span<const double> busy, double theta, double sigma,
            double busy_share);

model::Finding run(const Evidence& evidence);

// True until enough targeted pairs were run, and only if the other state is possible: we can add
// load, but not remove it.
bool pairs_help(const Evidence& evidence);

}  // namespace amdahl::refute::contention
