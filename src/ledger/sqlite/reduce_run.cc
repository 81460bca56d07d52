#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "ledger/sqlite/fields.h"
#include "ledger/sqlite/reduce.h"
#include "ledger/sqlite/rows.h"
#include "model/codec.h"

namespace amdahl::ledger::sqlite {
namespace {

// Where a person sets the limit of a resource.
struct Limit {
  std::string_view resource;
  std::string_view setting;
};
constexpr auto kLimits = std::to_array<Limit>({
    {"accelerator_s", "budget.accelerator_hours in the configuration"},
    {"usd", "budget.usd in the configuration"},
    {"tokens", "budget.tokens in the configuration"},
});

std::string_view setting_for(std::string_view resource) {
  const auto row = std::ranges::find(kLimits, resource, &Limit::resource);
  return row == kLimits.end() ? "its limit" : row->setting;
}

// Adds the resources named under `others`, in whole millionths.
Result<Json> with_named(Json charges, const Json& payload, const char* others) {
  const Json& named = any_field(payload, others);
  if (named.is_null()) return charges;
  if (!named.is_object()) return bad_input(fmt::format("/{}: must be an object", others));
  for (const auto& [resource, amount] : named.items()) {
    const std::string where = fmt::format("/{}/{}", others, resource);
    if (resource.empty()) return bad_input(fmt::format("{}: a resource needs a name", where));
    if (charges.contains(resource)) {
      return bad_input(fmt::format("{}: duplicates {}_accelerator_s", where, others));
    }
    if (!amount.is_number()) return bad_input(where + ": must be a number");
    charges[resource] = TRY(to_millionths(amount.get<double>()).in(where));
  }
  return charges;
}

// The event's charges in whole millionths by resource: accelerator time, which every run has, and
// the resources named under `others`.
Result<Json> charges_of(const Json& payload, const char* accelerator_s, const char* others) {
  const auto time = TRY(number_field(payload, accelerator_s));
  Json charges{{"accelerator_s", TRY(to_millionths(time).in(fmt::format("/{}", accelerator_s)))}};
  return with_named(std::move(charges), payload, others);
}

// The table's constraint would refuse too; this error has the numbers.
Result<> budget_allows(db::Connection& db, const std::string& resource, std::int64_t wanted) {
  auto row = TRY(db.query("look at the budget",
                          "SELECT allowed, committed, spent + overrun FROM budget"
                          " WHERE resource = ? AND allowed IS NOT NULL",
                          resource));
  if (!TRY(row.step())) return Ok{};
  const std::int64_t left = row.integer(0) - row.integer(1) - row.integer(2);
  if (wanted <= left) return Ok{};
  return Error{
      Error::Kind::kBudget,
      fmt::format("{} {} would exceed the budget: {} of {} left ({} committed, {} spent); raise {}",
                  from_millionths(wanted), resource, from_millionths(left),
                  from_millionths(row.integer(0)), from_millionths(row.integer(1)),
                  from_millionths(row.integer(2)), setting_for(resource))};
}

Result<> settle_run(db::Connection& db, const Entry& entry, model::PairState state) {
  const Json& payload = entry.event.payload;
  const Json spent = TRY(charges_of(payload, "spent_accelerator_s", "spent"));
  const auto reason = TRY(text_field_or(payload, "reason", ""));
  std::optional<std::string> fact;
  if (const Json& given = any_field(payload, "fact"); !given.is_null()) {
    TRY(model::decode<model::PairFact>(given).in("/fact"));
    fact = dump_json(given);
  }
  return must_find(
      db.run("settle the run",
             "UPDATE run SET state = ?, spent = ?, fact = ?, reason = ? WHERE reservation = ?",
             model::name(state), dump_json(spent), fact, reason, entry.event.subject),
      "run", entry.event.subject);
}

}  // namespace

Result<> reserve_run(db::Connection& db, const Entry& entry) {
  const Json& payload = entry.event.payload;
  const auto family = TRY(text_field(payload, "family"));
  const auto experiment = TRY(text_field_or(payload, "experiment", ""));
  const auto purpose = TRY(text_field(payload, "purpose"));
  if (!model::aim_in(purpose))
    return bad_input(fmt::format("/purpose: unknown purpose {}", purpose));
  const auto index = TRY(integer_field(payload, "index"));
  const auto variant_second = TRY(flag_field(payload, "variant_second"));
  const Json reserved = TRY(charges_of(payload, "reserved_accelerator_s", "reserved"));
  const Json& cpus = any_field(payload, "cpus");
  if (!cpus.is_null() && !cpus.is_array()) return bad_input("/cpus: must be a list");
  const Json& request = any_field(payload, "request");
  for (const auto& [resource, wanted] : reserved.items()) {
    TRY(budget_allows(db, resource, wanted.get<std::int64_t>()));
  }
  TRY(db.run("write the reservation",
             "INSERT INTO run(seq, reservation, family, experiment, purpose, idx, variant_second,"
             " cpus, state, reserved, at_ns, request)"
             " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'reserved', ?, ?, ?)",
             entry.event.seq, entry.event.subject, family, experiment, purpose, index,
             variant_second, cpus.is_null() ? "[]" : dump_json(cpus), dump_json(reserved),
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

Result<> reserve_ask(db::Connection& db, const Entry& entry) {
  const Json& payload = entry.event.payload;
  const auto family = TRY(text_field(payload, "family"));
  const auto about = TRY(text_field(payload, "about"));
  const auto role = TRY(text_field(payload, "role"));
  const auto tier = TRY(integer_field(payload, "tier"));
  const Json reserved = TRY(with_named(Json::object(), payload, "reserved"));
  for (const auto& [resource, wanted] : reserved.items()) {
    TRY(budget_allows(db, resource, wanted.get<std::int64_t>()));
  }
  TRY(db.run("write the question",
             "INSERT INTO ask(seq, id, family, about, role, tier, state, reserved, request, at_ns)"
             " VALUES (?, ?, ?, ?, ?, ?, 'reserved', ?, ?, ?)",
             entry.event.seq, entry.event.subject, family, about, role, tier, dump_json(reserved),
             dump_json(any_field(payload, "request")), entry.event.at.count()));
  return Ok{};
}

Result<> settle_ask(db::Connection& db, const Entry& entry) {
  const Json& payload = entry.event.payload;
  const Json spent = TRY(with_named(Json::object(), payload, "spent"));
  const auto outcome = TRY(text_field(payload, "outcome"));
  if (outcome.empty()) return bad_input("/outcome: must not be empty");
  return must_find(db.run("settle the question",
                          "UPDATE ask SET state = 'settled', spent = ?, outcome = ? WHERE id = ?",
                          dump_json(spent), outcome, entry.event.subject),
                   "question", entry.event.subject);
}

Result<> collect_run(db::Connection& db, const Entry& entry) {
  return settle_run(db, entry, model::PairState::kCollected);
}

Result<> void_run(db::Connection& db, const Entry& entry) {
  return settle_run(db, entry, model::PairState::kVoid);
}

}  // namespace amdahl::ledger::sqlite
