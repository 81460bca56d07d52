// describe.h: parts of answers as text, for any door.
#pragma once

#include <string>
#include <vector>

#include "app/status.h"
#include "base/units.h"
#include "ledger/event.h"
#include "ledger/ledger.h"
#include "model/hypothesis.h"
#include "model/profile.h"

namespace amdahl::app {

// A log effect as a saving: 0.69 is "50 %".
std::string saving(double log_effect);
// "31 % (28 % to 34 %, 95 %, 12 pairs)".
std::string describe(const model::Comparison& comparison);
// "about 24 more pairs would settle it: E is 1.2 of 20 for better and ...".
std::string what_settles(const Parked& parked);
// "1.2 h of 10 h of accelerator time spent, 12.0 min committed".
std::string describe(const ledger::Budget& budget);
std::string describe_time(Nanos unix_time);  // "2026-11-15 21:30:05", UTC.
// Two lines per vote: the check's question, and its finding.
std::string show_votes(const std::vector<model::Finding>& votes);

// Details of an event for a log line; may be empty.
std::string detail_of(const ledger::Event& event);

// The family that the last scan chose, and what follows.
struct NextWork {
  std::string family;  // Empty: none.
  std::string why;
  std::vector<std::string> then;
};
NextWork next_work(const ledger::Choice& choice);

// Why ceilings are higher than the shares alone suggest; empty if others used little of the host.
std::string load_of(const model::Profile& profile);
// How the job ran, in lines: its start, its steps, and the cost of watching it.
std::vector<std::string> course_of(const model::Profile& profile);

}  // namespace amdahl::app
