// show.h: nouns as people read them.
#pragma once

#include <string>

#include "app/context.h"
#include "app/describe.h"
#include "base/json.h"
#include "base/result.h"
#include "cli/options.h"

namespace amdahl::cli {

// The configuration that these flags ask for, with what else a verb overrides; and the opened state
// on top of it.
Result<app::Config> config_for(const Flags& flags, app::Overrides overrides = {});
Result<app::Context> context_for(const Flags& flags, bool create, app::Overrides overrides = {});

void print(const std::string& text);  // To stdout.
// Whether all of it arrived; kExternal if not: a full disk.
Result<> check_printed();
void print_json(const Json& document);
// Of a decision: what it led to, in words or as the document.
void print_outcome(const Flags& flags, const Json& outcome);

using app::describe;
using app::describe_time;
using app::saving;
using app::show_votes;
using app::what_settles;

// What a shell would say of the job: its own status, 128 + N if signal N ended it, 130 if it was
// cancelled, 124 for a limit, 127 if it never started.
int exit_status(const model::Receipt& receipt);

std::string show_packet(const Flags& flags, const ledger::GateRow& row);

}  // namespace amdahl::cli
