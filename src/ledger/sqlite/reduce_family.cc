#include <algorithm>
#include <optional>
#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "ledger/sqlite/fields.h"
#include "ledger/sqlite/reduce.h"
#include "ledger/sqlite/rows.h"
#include "model/codec.h"

namespace amdahl::ledger::sqlite {
namespace {

// The family's stack. It must be the stack that the event was decided on. Older events, without
// `seen`, are replayed without this check.
Result<Json> stack_seen(db::Connection& db, const Entry& entry) {
  auto row = TRY(db.query("read the stack", "SELECT spec, stack FROM family WHERE name = ?",
                          entry.event.subject));
  if (!TRY(row.step())) return conflict("the family was not adopted");
  const auto seen = TRY(text_field_or(entry.event.payload, "seen", ""));
  if (!seen.empty() && seen != family_version(row.text(0), row.text(1))) {
    return conflict(
        fmt::format("the spec or the stack has changed since this decision, and the stack is now "
                    "{}: check again and decide anew",
                    row.text(1)));
  }
  return parse_json(row.text(1)).in("stack");
}

// The promoted changes of the stack combined, oldest first.
Result<model::Change> fold(db::Connection& db, const Json& stack) {
  model::Change all;
  for (const Json& id : stack) {
    auto row = TRY(db.query("read the change", "SELECT body FROM hypothesis WHERE id = ?",
                            id.get<std::string>()));
    if (!TRY(row.step())) return conflict(fmt::format("no hypothesis {}", id.dump()));
    all = model::combine(all, TRY(model::decode_text<model::Hypothesis>(row.text(0))).change);
  }
  return all;
}

// The baseline is always the combined stack; the payload's change repeats it for people who read
// the events. In older ledgers two processes may have written different baselines: replay repairs
// that.
Result<> write_baseline(db::Connection& db, const Entry& entry, const Json& stack) {
  const auto said =
      TRY(model::decode<model::Change>(any_field(entry.event.payload, "change")).in("/change"));
  const model::Change baseline = TRY(fold(db, stack));
  if (entry.event.payload.contains("seen") && said != baseline) {
    return conflict(fmt::format("/change: differs from the combined stack {}", dump_json(stack)));
  }
  TRY(db.run("write the baseline", "UPDATE family SET baseline = ?, stack = ? WHERE name = ?",
             dump_json(model::encode(baseline)), dump_json(stack), entry.event.subject));
  return Ok{};
}

// The cycle may never roll back. A policy may if a canary proposed it.
Result<> may_roll_back(db::Connection& db, const std::string& event_actor,
                       const std::string& hypothesis) {
  const std::string actor = lower(trim(event_actor));
  const bool policy = actor.starts_with("policy:");
  if (actor != "cycle" && !policy) return Ok{};
  auto row = TRY(db.query("look at the canary",
                          "SELECT 1 FROM canary WHERE hypothesis = ? AND state ="
                          " 'rollback proposed'",
                          hypothesis));
  if (policy && TRY(row.step())) return Ok{};
  return conflict("only a person may roll a change back, or a policy after a canary proposed it");
}

}  // namespace

Result<> open_campaign(db::Connection& db, const Entry& entry) {
  const Json& payload = entry.event.payload;
  const auto k = TRY(integer_field(payload, "k"));
  const auto alpha = TRY(number_field(payload, "alpha"));
  const auto seed = TRY(text_field_or(payload, "seed", ""));
  const auto seed_hash = TRY(text_field_or(payload, "seed_hash", ""));
  TRY(db.run("close the last campaign", "UPDATE campaign SET open = 0 WHERE open = 1"));
  TRY(db.run("open the campaign",
             "INSERT INTO campaign(seq, id, k, alpha, seed, seed_hash, open)"
             " VALUES (?, ?, ?, ?, ?, ?, 1)",
             entry.event.seq, entry.event.subject, k, alpha, seed, seed_hash));
  return Ok{};
}

// A limit of null removes the limit; spending is still counted.
Result<> set_budget(db::Connection& db, const Entry& entry) {
  std::optional<std::int64_t> allowed;
  if (!entry.event.payload.contains("limit") || !entry.event.payload["limit"].is_null()) {
    const auto limit = TRY(number_field(entry.event.payload, "limit"));
    allowed = TRY(to_millionths(limit).in("/limit"));
  }
  auto row =
      TRY(db.query("read the budget", "SELECT committed, spent FROM budget WHERE resource = ?",
                   entry.event.subject));
  if (allowed && TRY(row.step()) && row.integer(0) + row.integer(1) > *allowed) {
    return Error{Error::Kind::kBudget,
                 fmt::format("the limit cannot be {}: {} is committed and {} spent",
                             from_millionths(*allowed), from_millionths(row.integer(0)),
                             from_millionths(row.integer(1)))};
  }
  TRY(db.run("set the budget",
             "INSERT INTO budget(resource, allowed) VALUES (?, ?)"
             " ON CONFLICT (resource) DO UPDATE SET allowed = excluded.allowed",
             entry.event.subject, allowed));
  return Ok{};
}

Result<> adopt_family(db::Connection& db, const Entry& entry) {
  const auto spec = TRY(model::decode<model::Spec>(entry.event.payload));
  TRY(same_subject(entry, spec.family));
  TRY(db.run("adopt the family",
             "INSERT INTO family(seq, name, spec) VALUES (?, ?, ?)"
             " ON CONFLICT (name) DO UPDATE SET spec = excluded.spec",
             entry.event.seq, entry.event.subject, entry.text));
  return Ok{};
}

Result<> pick_family(db::Connection& db, const Entry& entry) {
  const auto volume = TRY(maybe_number_field(entry.event.payload, "volume_accelerator_h_per_day"));
  const auto jobs = TRY(maybe_number_field(entry.event.payload, "jobs"));
  TRY(db.run("pick the family",
             "INSERT INTO family(seq, name, volume, jobs) VALUES (?, ?, ?, ?)"
             " ON CONFLICT (name) DO UPDATE SET volume = excluded.volume, jobs = excluded.jobs",
             entry.event.seq, entry.event.subject, volume.value_or(0),
             static_cast<std::int64_t>(jobs.value_or(0))));
  return Ok{};
}

// Only the last one counts: what was chosen before is in the events.
Result<> choose_family(db::Connection& db, const Entry& entry) {
  const auto family = TRY(text_field(entry.event.payload, "family"));
  if (!family.empty()) TRY(same_subject(entry, family));
  TRY(text_field(entry.event.payload, "why"));
  TRY(db.run("write the choice", "INSERT INTO choice(seq, family, at_ns, body) VALUES (?, ?, ?, ?)",
             entry.event.seq, family, entry.event.at.count(), entry.text));
  return Ok{};
}

Result<> record_profile(db::Connection& db, const Entry& entry) {
  const auto profile = TRY(model::decode<model::Profile>(entry.event.payload));
  TRY(same_subject(entry, profile.family));
  TRY(db.run("record the profile",
             "INSERT INTO family(seq, name, profile) VALUES (?, ?, ?)"
             " ON CONFLICT (name) DO UPDATE SET profile = excluded.profile",
             entry.event.seq, entry.event.subject, entry.text));
  return Ok{};
}

Result<> move_baseline(db::Connection& db, const Entry& entry) {
  const auto hypothesis = TRY(text_field(entry.event.payload, "hypothesis"));
  auto row = TRY(db.query("read the hypothesis",
                          "SELECT state FROM hypothesis WHERE id = ? AND family = ?", hypothesis,
                          entry.event.subject));
  if (!TRY(row.step())) {
    return conflict(fmt::format("the family has no hypothesis {}", hypothesis));
  }
  if (row.text(0) != "promoted") {
    return conflict(fmt::format("{} is {}: only a promoted change moves the baseline", hypothesis,
                                row.text(0)));
  }
  Json stack = TRY(stack_seen(db, entry));
  if (std::find(stack.begin(), stack.end(), Json(hypothesis)) == stack.end()) {
    stack.push_back(hypothesis);
  }
  return write_baseline(db, entry, stack);
}

// The verdict stays, and so does the campaign's count of promotions.
Result<> roll_back_baseline(db::Connection& db, const Entry& entry) {
  const auto hypothesis = TRY(text_field(entry.event.payload, "hypothesis"));
  const auto reason = TRY(text_field_or(entry.event.payload, "reason", ""));
  TRY(may_roll_back(db, entry.event.actor, hypothesis));
  if (trim(reason).empty()) return conflict("a rollback needs a reason");
  Json stack = TRY(stack_seen(db, entry));
  const auto place = std::find(stack.begin(), stack.end(), Json(hypothesis));
  if (place == stack.end()) return conflict(fmt::format("{} is not in the stack", hypothesis));
  stack.erase(place);
  TRY(write_baseline(db, entry, stack));
  TRY(db.run("close the canary",
             "UPDATE canary SET state = 'rolled back', actor = ?, reason = ?, closed_ns = ?"
             " WHERE hypothesis = ?",
             entry.event.actor, reason, entry.event.at.count(), hypothesis));
  return Ok{};
}

Result<> measure_stack(db::Connection& db, const Entry& entry) {
  const auto stack = TRY(model::decode<model::StackResult>(entry.event.payload));
  TRY(same_subject(entry, stack.family));
  TRY(db.run("remember the stack",
             "INSERT INTO stack(seq, family, at_ns, body) VALUES (?, ?, ?, ?)", entry.event.seq,
             entry.event.subject, entry.event.at.count(), entry.text));
  return Ok{};
}

Result<> book_saving(db::Connection& db, const Entry& entry) {
  const Json& payload = entry.event.payload;
  const auto family = TRY(text_field(payload, "family"));
  const auto predicted = TRY(number_field(payload, "predicted_share"));
  const auto realised = TRY(maybe_number_field(payload, "realised_share"));
  TRY(db.run("book the saving",
             "INSERT INTO saving(seq, hypothesis, family, predicted, realised)"
             " VALUES (?, ?, ?, ?, ?) ON CONFLICT (hypothesis) DO UPDATE SET"
             " predicted = excluded.predicted, realised = coalesce(excluded.realised, realised)",
             entry.event.seq, entry.event.subject, family, predicted, realised));
  return Ok{};
}

Result<> realise_saving(db::Connection& db, const Entry& entry) {
  const Json& payload = entry.event.payload;
  const auto month = TRY(text_field(payload, "month"));
  const auto jobs = TRY(integer_field(payload, "jobs"));
  const auto used = TRY(number_field(payload, "used_accelerator_s"));
  const auto saved = TRY(number_field(payload, "saved_accelerator_s"));
  const auto lower = TRY(number_field(payload, "lower_accelerator_s"));
  const auto upper = TRY(number_field(payload, "upper_accelerator_s"));
  TRY(db.run("book what was realised",
             "INSERT INTO earning(seq, family, month, jobs, used, saved, lower, upper)"
             " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (family, month) DO UPDATE SET"
             " seq = excluded.seq, jobs = excluded.jobs, used = excluded.used,"
             " saved = excluded.saved, lower = excluded.lower, upper = excluded.upper",
             entry.event.seq, entry.event.subject, month, jobs, used, saved, lower, upper));
  return Ok{};
}

}  // namespace amdahl::ledger::sqlite
