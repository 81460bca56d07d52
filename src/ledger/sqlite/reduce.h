// reduce.h: what each kind of event does to the projections.
#pragma once

#include <span>
#include <string_view>

#include "db/sqlite.h"
#include "ledger/event.h"
#include "ledger/ledger.h"

namespace amdahl::ledger::sqlite {

struct Entry {
  const Event& event;
  std::string_view text;  // The payload as it is stored.
};

// Same entries in the same order, same tables: replay relies on it. Reads no clock, no events.
struct Reducer {
  std::string_view kind;  // Written to the ledger: never renamed, never reused.
  Result<> (*reduce)(db::Connection& db, const Entry& entry);
  // A field that a new event must have, though events of older ledgers do not; null for none.
  const char* must_name = nullptr;
};
std::span<const Reducer> reducers();

// What a new event must say beyond what replay asks for.
Result<> check_new(const Event& event);

// Finds the reducer and runs it. Errors start with "kind subject: ".
Result<> reduce(db::Connection& db, const Entry& entry);

// The rows of the table, by subject. For reduce.cc only.
Result<> open_campaign(db::Connection& db, const Entry& entry);
Result<> set_budget(db::Connection& db, const Entry& entry);
Result<> adopt_family(db::Connection& db, const Entry& entry);
Result<> pick_family(db::Connection& db, const Entry& entry);
Result<> choose_family(db::Connection& db, const Entry& entry);
Result<> record_profile(db::Connection& db, const Entry& entry);
Result<> move_baseline(db::Connection& db, const Entry& entry);
Result<> roll_back_baseline(db::Connection& db, const Entry& entry);
Result<> measure_stack(db::Connection& db, const Entry& entry);
Result<> book_saving(db::Connection& db, const Entry& entry);
Result<> realise_saving(db::Connection& db, const Entry& entry);

Result<> open_canary(db::Connection& db, const Entry& entry);
Result<> close_canary(db::Connection& db, const Entry& entry);

Result<> propose_hypothesis(db::Connection& db, const Entry& entry);
Result<> revise_hypothesis(db::Connection& db, const Entry& entry);
Result<> reopen_hypothesis(db::Connection& db, const Entry& entry);
Result<> count_prevented(db::Connection& db, const Entry& entry);
Result<> register_experiment(db::Connection& db, const Entry& entry);
Result<> stage_experiment(db::Connection& db, const Entry& entry);
Result<> resume_experiment(db::Connection& db, const Entry& entry);
Result<> make_comparison(db::Connection& db, const Entry& entry);
Result<> vote_check(db::Connection& db, const Entry& entry);
Result<> open_gate(db::Connection& db, const Entry& entry);
Result<> decide_gate(db::Connection& db, const Entry& entry);
Result<> record_verdict(db::Connection& db, const Entry& entry);

Result<> reserve_run(db::Connection& db, const Entry& entry);
Result<> submit_run(db::Connection& db, const Entry& entry);
Result<> collect_run(db::Connection& db, const Entry& entry);
Result<> reserve_ask(db::Connection& db, const Entry& entry);
Result<> settle_ask(db::Connection& db, const Entry& entry);
Result<> void_run(db::Connection& db, const Entry& entry);

// Help for the above.
Error conflict(std::string text);
// The payload must be about the event's subject.
Result<> same_subject(const Entry& entry, std::string_view id);
// An update that found no row is a conflict: "no run r-9".
Result<> must_find(Result<std::int64_t> changed, std::string_view what, std::string_view id);

}  // namespace amdahl::ledger::sqlite
