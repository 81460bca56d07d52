// contention.h: whether the win holds beside busy neighbours and without them.
#pragma once

#include <cstdint>
#include <span>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::contention {

enum class State : std::uint8_t { kQuiet, kBusy, kUnknown };

// How the pair's host was. Busy: neighbours were put there, or both arms met some that took CPU
// from them. Arms that met different neighbours are unknown: that is the host check's affair.
State state_of(const model::PairFact& pair);

// The state in which the claim was found: that of most coin-randomised pairs.
State found_in(const Evidence& evidence);

// Agrees if half the claim is there in both states, or if what one state loses is less than what
// the other saves, by their shares of the fleet's hours; doubts if it is not. Never vetoes: a
// claim that holds in one state is true there.
Ruling rule(std::span<const double> quiet, std::span<const double> busy, double theta,
            double busy_share);

model::Finding run(const Evidence& evidence);

// Until as many as a top-up holds were tried, and if the other state can be had: neighbours can be
// put there, but not sent away.
bool pairs_help(const Evidence& evidence);

}  // namespace amdahl::refute::contention
