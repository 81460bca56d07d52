// rows.h: rows of the ledger's tables into the nouns they hold.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "db/sqlite.h"
#include "ledger/ledger.h"

namespace amdahl::ledger::sqlite {

// Resources are stored as whole millionths: 64 bits hold 292,000 accelerator-years, and sums of
// whole numbers come back to 0.
double from_millionths(std::int64_t millionths);
// kBadInput unless it is a number from 0 to 9e12.
Result<std::int64_t> to_millionths(double amount);

// Name what a decision was made on: a packet as it is stored; a family's spec and stack.
std::string packet_digest(std::string_view body);
std::string family_version(std::string_view spec, std::string_view stack);

// Each reads the columns of its queries in queries.h.
Result<Family> family_of(const db::Statement& row);
Result<HypothesisRow> hypothesis_of(const db::Statement& row);
Result<ExperimentRow> experiment_of(const db::Statement& row);
Result<model::Pair> pair_of(const db::Statement& row);
Result<GateRow> gate_of(const db::Statement& row);
Result<model::Verdict> verdict_of(const db::Statement& row);
// From the column of its time on.
Result<model::Verdict> verdict_of(const db::Statement& row, int column);
Result<model::StackResult> stack_of(const db::Statement& row);
Result<model::Finding> vote_of(const db::Statement& row);
Result<Saving> saving_of(const db::Statement& row);
Result<Earning> earning_of(const db::Statement& row);
Result<Outlay> outlay_of(const db::Statement& row);
Result<Choice> choice_of(const db::Statement& row);
Result<Budget> budget_of(const db::Statement& row);
Result<Ask> ask_of(const db::Statement& row);
Result<CanaryRow> canary_of(const db::Statement& row);
Result<Campaign> campaign_of(const db::Statement& row);

// "2026-01-31 23:59:59 UTC".
std::string show_time(Nanos unix_time);

}  // namespace amdahl::ledger::sqlite
