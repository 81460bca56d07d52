// show.h: nouns as people read them.
#pragma once

#include <string>

#include "app/context.h"
#include "base/json.h"
#include "base/result.h"
#include "cli/options.h"
#include "ledger/ledger.h"
#include "model/hypothesis.h"

namespace amdahl::app {
struct Parked;
}

namespace amdahl::cli {

// The configuration that these flags ask for, with what else a verb overrides; and the opened state
// on top of it.
Result<app::Config> config_for(const Flags& flags, app::Overrides overrides = {});
Result<app::Context> context_for(const Flags& flags, bool create, app::Overrides overrides = {});

void print(const std::string& text);  // To stdout.
// Whether all of it arrived; kExternal if not: a full disk.
Result<> check_printed();
void print_json(const Json& document);

// ln effect as a saving: 0.69 is "50 %".
std::string saving(double log_effect);
// "saves 31 % (28 % to 34 %, 95 %, 12 pairs)".
std::string describe(const model::Comparison& comparison);
// "about 24 more pairs would settle it: E is 1.2 of 20 for better and ...".
std::string what_settles(const app::Parked& parked);
// "1.23 of 10 accelerator-hours spent, 0.2 committed".
std::string describe(const ledger::Budget& budget);
std::string describe_time(Nanos unix_time);  // "2026-11-15 21:30".

// What a shell would say of the job: its own status, 128 + N if signal N ended it, 130 if it was
// cancelled, 124 for a limit, 127 if it never started.
int exit_status(const model::Receipt& receipt);

std::string show_packet(const Flags& flags, const ledger::GateRow& row);
std::string show_votes(const std::vector<model::Finding>& votes);

}  // namespace amdahl::cli
