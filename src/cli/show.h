// show.h: prints domain values for people.
#pragma once

#include <string>

#include "app/attacks.h"
#include "app/context.h"
#include "app/describe.h"
#include "base/json.h"
#include "base/result.h"
#include "cli/options.h"

namespace amdahl::cli {

// The configuration for these flags, with the verb's own overrides; and the opened state.
Result<app::Config> config_for(const Flags& flags, app::Overrides overrides = {});
Result<app::Context> context_for(const Flags& flags, bool create, app::Overrides overrides = {});

// To stdout and to stderr: without what could change the terminal, since much of it comes from
// jobs, models and documents. `tell` ends the line.
void print(const std::string& text);
void tell(const std::string& line);
// kExternal if not all output was written: disk full.
Result<> check_printed();
void print_json(const Json& document);
// The consequence of a decision, as text or as JSON.
void print_outcome(const Flags& flags, const Json& outcome);

using app::describe;
using app::describe_time;
using app::saving;
using app::show_votes;
using app::what_settles;

// The exit status a shell would give: the job's own, 128 + N for signal N, 130 if cancelled, 124
// at the time limit, 127 if it never started.
int exit_status(const model::Receipt& receipt);

std::string show_packet(const Flags& flags, const ledger::GateRow& row,
                        const std::vector<app::Attack>& attacks);

}  // namespace amdahl::cli
