#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "ledger/sqlite/fields.h"
#include "ledger/sqlite/reduce.h"
#include "ledger/sqlite/rows.h"
#include "model/codec.h"

namespace amdahl::ledger::sqlite {
namespace {

// The store would refuse as well; this says the numbers.
Result<> budget_allows(db::Connection& db, std::int64_t wanted) {
  auto row = TRY(db.query("look at the budget",
                          "SELECT allowed, committed, spent FROM budget"
                          " WHERE resource = 'accelerator_s' AND allowed IS NOT NULL"));
  if (!TRY(row.step())) return Ok{};
  const std::int64_t left = row.integer(0) - row.integer(1) - row.integer(2);
  if (wanted <= left) return Ok{};
  return Error{
      Error::Kind::kBudget,
      fmt::format("{} accelerator_s would exceed the budget: {} of {} left"
                  " ({} committed, {} spent)",
                  from_millionths(wanted), from_millionths(left), from_millionths(row.integer(0)),
                  from_millionths(row.integer(1)), from_millionths(row.integer(2)))};
}

Result<> settle_run(db::Connection& db, const Entry& entry, RunState state) {
  const Json& payload = entry.event.payload;
  const auto spent_s = TRY(number_field(payload, "spent_accelerator_s"));
  const auto spent = TRY(to_millionths(spent_s).in("/spent_accelerator_s"));
  const auto reason = TRY(text_field_or(payload, "reason", ""));
  std::optional<std::string> fact;
  if (const Json& given = any_field(payload, "fact"); !given.is_null()) {
    TRY(model::decode<model::PairFact>(given).in("/fact"));
    fact = dump_json(given);
  }
  return must_find(
      db.run("settle the run",
             "UPDATE run SET state = ?, spent = ?, fact = ?, reason = ? WHERE reservation = ?",
             name(state), spent, fact, reason, entry.event.subject),
      "run", entry.event.subject);
}

}  // namespace

Result<> reserve_run(db::Connection& db, const Entry& entry) {
  const Json& payload = entry.event.payload;
  const auto family = TRY(text_field(payload, "family"));
  const auto experiment = TRY(text_field_or(payload, "experiment", ""));
  const auto purpose = TRY(text_field(payload, "purpose"));
  const auto index = TRY(integer_field(payload, "index"));
  const auto variant_second = TRY(flag_field(payload, "variant_second"));
  const auto reserved_s = TRY(number_field(payload, "reserved_accelerator_s"));
  const auto reserved = TRY(to_millionths(reserved_s).in("/reserved_accelerator_s"));
  const Json& cpus = any_field(payload, "cpus");
  if (!cpus.is_null() && !cpus.is_array()) return bad_input("/cpus: must be a list");
  const Json& request = any_field(payload, "request");
  TRY(budget_allows(db, reserved));
  TRY(db.run("write the reservation",
             "INSERT INTO run(seq, reservation, family, experiment, purpose, idx, variant_second,"
             " cpus, state, reserved, at_ns, request)"
             " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'reserved', ?, ?, ?)",
             entry.event.seq, entry.event.subject, family, experiment, purpose, index,
             variant_second, cpus.is_null() ? "[]" : dump_json(cpus), reserved,
             entry.event.at.count(),
             request.is_string() ? request.get<std::string>()
                                 : (request.is_null() ? "" : dump_json(request))));
  return Ok{};
}

Result<> submit_run(db::Connection& db, const Entry& entry) {
  const auto worker = TRY(text_field(entry.event.payload, "worker_run_id"));
  if (worker.empty()) return bad_input("/worker_run_id: must not be empty");
  return must_find(db.run("write the submission",
                          "UPDATE run SET state = 'submitted', worker_run_id = ?"
                          " WHERE reservation = ?",
                          worker, entry.event.subject),
                   "reserved run", entry.event.subject);
}

Result<> collect_run(db::Connection& db, const Entry& entry) {
  return settle_run(db, entry, RunState::kCollected);
}

Result<> void_run(db::Connection& db, const Entry& entry) {
  return settle_run(db, entry, RunState::kVoid);
}

}  // namespace amdahl::ledger::sqlite
