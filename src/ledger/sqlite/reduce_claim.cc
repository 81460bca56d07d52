#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "ledger/sqlite/fields.h"
#include "ledger/sqlite/queries.h"
#include "ledger/sqlite/reduce.h"
#include "ledger/sqlite/rows.h"
#include "model/codec.h"

namespace amdahl::ledger::sqlite {
namespace {

// The table's constraint would refuse too; this error names the holder.
Result<> key_is_free(db::Connection& db, const std::string& key) {
  auto holder = TRY(db.query("look for the key", kHolderOfKey, key));
  if (!TRY(holder.step())) return Ok{};
  std::string text = fmt::format("the key is already held by {} ({} since {})", holder.text(0),
                                 holder.text(1), show_time(Nanos{holder.integer(2)}));
  if (holder.text(1) != "live") {
    text +=
        fmt::format(": to reopen it, run `amdahl ledger reopen {} --reason TEXT`", holder.text(0));
  }
  return conflict(std::move(text));
}

Result<> campaign_has_room(db::Connection& db, const std::string& campaign) {
  auto row =
      TRY(db.query("look at the campaign",
                   "SELECT registered, k FROM campaign WHERE id = ? AND open = 1", campaign));
  if (!TRY(row.step()) || row.integer(0) < row.integer(1)) return Ok{};
  return conflict(fmt::format("campaign {} is full ({} of {}): open another", campaign,
                              row.integer(0), row.integer(1)));
}

// Older ledgers, whose decisions do not name their packet, are replayed without this check.
Result<> saw_packet(db::Connection& db, const std::string& experiment, const std::string& seen) {
  auto row =
      TRY(db.query("read the packet", "SELECT body FROM gate WHERE experiment = ?", experiment));
  if (!TRY(row.step()) || packet_digest(row.text(0)) == seen) return Ok{};
  return conflict(
      fmt::format("the decision was made on packet {}, but the gate now has {}: check again with "
                  "`amdahl gate show {}`",
                  seen, packet_digest(row.text(0)), experiment));
}

}  // namespace

Result<> propose_hypothesis(db::Connection& db, const Entry& entry) {
  const auto hypothesis = TRY(model::decode<model::Hypothesis>(entry.event.payload));
  TRY(same_subject(entry, hypothesis.id));
  if (hypothesis.key.empty()) return bad_input("/key: must not be empty");
  TRY(key_is_free(db, hypothesis.key));
  TRY(db.run("write the hypothesis",
             "INSERT INTO hypothesis(seq, id, family, key, state, since_ns, body)"
             " VALUES (?, ?, ?, ?, 'live', ?, ?)",
             entry.event.seq, hypothesis.id, hypothesis.family, hypothesis.key,
             entry.event.at.count(), entry.text));
  TRY(db.run("make the hypothesis findable",
             "INSERT INTO search(rowid, id, title, mechanism, change, reason)"
             " VALUES (?, ?, ?, ?, ?, '')",
             entry.event.seq, hypothesis.id, hypothesis.title, hypothesis.mechanism,
             model::describe(hypothesis.change)));
  return Ok{};
}

// What a newer profile predicts of a hypothesis that still waits.
Result<> revise_hypothesis(db::Connection& db, const Entry& entry) {
  const Json& payload = entry.event.payload;
  for (const char* name : {"predicted_gain", "ceiling_share", "prior"}) {
    TRY(number_field(payload, name));
  }
  TRY(text_field(payload, "profile"));
  return must_find(db.run("revise the hypothesis", "UPDATE hypothesis SET outlook = ? WHERE id = ?",
                          entry.text, entry.event.subject),
                   "hypothesis", entry.event.subject);
}

Result<> reopen_hypothesis(db::Connection& db, const Entry& entry) {
  const auto reason = TRY(text_field_or(entry.event.payload, "reason", ""));
  return must_find(db.run("reopen the hypothesis",
                          "UPDATE hypothesis SET state = 'reopened', since_ns = ?,"
                          " reopened_by = ?, reopen_reason = ? WHERE id = ?",
                          entry.event.at.count(), entry.event.actor, reason, entry.event.subject),
                   "hypothesis", entry.event.subject);
}

// A known idea came up again: the cost of its verdict was not spent a second time.
Result<> count_prevented(db::Connection& db, const Entry& entry) {
  const std::int64_t pairs = TRY(integer_field(entry.event.payload, "pairs"));
  const double cost = TRY(number_field(entry.event.payload, "accelerator_s"));
  if (pairs < 1) return bad_input("/pairs: must be at least 1");
  if (!(cost >= 0)) return bad_input("/accelerator_s: must be at least 0");
  TRY(text_field(entry.event.payload, "asked"));
  // As budgets count: in whole millionths.
  return must_find(db.run("count what was prevented",
                          "INSERT INTO tally(name, count)"
                          " SELECT t.name, t.count FROM hypothesis AS h, (SELECT"
                          " 'prevented.ideas' AS name, 1 AS count UNION ALL SELECT"
                          " 'prevented.pairs', ?2 UNION ALL SELECT"
                          " 'prevented.accelerator_us', ?3) AS t"
                          " WHERE h.id = ?1 AND h.state <> 'live'"
                          " ON CONFLICT (name) DO UPDATE SET count = count + excluded.count",
                          entry.event.subject, pairs,
                          static_cast<std::int64_t>(std::llround(cost * 1e6))),
                   "hypothesis with an answer", entry.event.subject);
}

Result<> register_experiment(db::Connection& db, const Entry& entry) {
  const auto experiment = TRY(model::decode<model::Experiment>(entry.event.payload));
  TRY(same_subject(entry, experiment.id));
  TRY(campaign_has_room(db, experiment.campaign));
  TRY(db.run("write the experiment",
             "INSERT INTO experiment(seq, id, hypothesis, family, campaign, state, stage, at_ns,"
             " body) VALUES (?, ?, ?, ?, ?, 'live', 'compare', ?, ?)",
             entry.event.seq, experiment.id, experiment.hypothesis, experiment.family,
             experiment.campaign, entry.event.at.count(), entry.text));
  return Ok{};
}

Result<> stage_experiment(db::Connection& db, const Entry& entry) {
  const auto stage = TRY(text_field(entry.event.payload, "stage"));
  if (!model::stage_named(stage)) return bad_input(fmt::format("/stage: unknown stage {}", stage));
  return must_find(db.run("move the stage", "UPDATE experiment SET stage = ? WHERE id = ?", stage,
                          entry.event.subject),
                   "experiment", entry.event.subject);
}

// A person asks for more pairs of a parked experiment.
Result<> resume_experiment(db::Connection& db, const Entry& entry) {
  const double pairs = TRY(number_field(entry.event.payload, "pairs"));
  if (!(pairs >= 1)) return bad_input("/pairs: must be at least 1");
  return must_find(db.run("resume the experiment", "UPDATE experiment SET resumed = ? WHERE id = ?",
                          static_cast<std::int64_t>(pairs), entry.event.subject),
                   "experiment", entry.event.subject);
}

Result<> make_comparison(db::Connection& db, const Entry& entry) {
  TRY(model::decode<model::Comparison>(entry.event.payload));
  return must_find(
      db.run("write the comparison", "UPDATE experiment SET comparison = ? WHERE id = ?",
             entry.text, entry.event.subject),
      "experiment", entry.event.subject);
}

// A check may vote again after a top-up: the last vote counts and keeps its place.
Result<> vote_check(db::Connection& db, const Entry& entry) {
  const auto finding = TRY(model::decode<model::Finding>(entry.event.payload));
  TRY(db.run("write the vote",
             "INSERT INTO vote(seq, experiment, check_id, body) VALUES (?, ?, ?, ?)"
             " ON CONFLICT (experiment, check_id) DO UPDATE SET body = excluded.body",
             entry.event.seq, entry.event.subject, finding.check, entry.text));
  return Ok{};
}

Result<> open_gate(db::Connection& db, const Entry& entry) {
  const auto packet = TRY(model::decode<model::GatePacket>(entry.event.payload));
  TRY(same_subject(entry, packet.experiment));
  TRY(db.run("open the gate",
             "INSERT INTO gate(seq, experiment, state, body) VALUES (?, ?, 'pending', ?)",
             entry.event.seq, packet.experiment, entry.text));
  return Ok{};
}

Result<> decide_gate(db::Connection& db, const Entry& entry) {
  const auto decision = TRY(model::decode<model::GateDecision>(entry.event.payload));
  if (decision.actor != entry.event.actor) {
    return bad_input(
        fmt::format("the decision's actor \"{}\" differs from the event's actor \"{}\"",
                    decision.actor, entry.event.actor));
  }
  if (!decision.packet.empty()) TRY(saw_packet(db, entry.event.subject, decision.packet));
  return must_find(db.run("decide the gate",
                          "UPDATE gate SET state = ?, actor = ?, reason = ?, decided_ns = ?"
                          " WHERE experiment = ?",
                          decision.approved ? "approved" : "rejected", decision.actor,
                          decision.reason, entry.event.at.count(), entry.event.subject),
                   "gate for", entry.event.subject);
}

// The hypothesis, the experiment, the gate and the campaign follow by trigger.
Result<> record_verdict(db::Connection& db, const Entry& entry) {
  const auto verdict = TRY(model::decode<model::Verdict>(entry.event.payload));
  TRY(same_subject(entry, verdict.hypothesis));
  std::optional<std::string> experiment;
  if (!verdict.experiment.empty()) experiment = verdict.experiment;
  TRY(db.run("write the verdict",
             "INSERT INTO verdict(seq, hypothesis, experiment, family, kind, at_ns, body) VALUES"
             " (?1, ?2, ?3, coalesce((SELECT family FROM hypothesis WHERE id = ?2), ''),"
             " ?4, ?5, ?6)",
             entry.event.seq, verdict.hypothesis, experiment, model::name(verdict.kind),
             entry.event.at.count(), entry.text));
  TRY(db.run("make the verdict findable",
             "UPDATE search SET reason = ? WHERE rowid ="
             " (SELECT seq FROM hypothesis WHERE id = ?)",
             verdict.reason, verdict.hypothesis));
  return Ok{};
}

}  // namespace amdahl::ledger::sqlite
