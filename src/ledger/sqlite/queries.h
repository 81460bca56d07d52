// queries.h: what the ledger asks its tables, in one place so that a test can read the plans.
#pragma once

#include <string_view>

namespace amdahl::ledger::sqlite {

// Conditions repeat those of the partial indexes word for word; else SQLite would not use them.
inline constexpr std::string_view kHead =
    "SELECT seq, hash FROM events WHERE seq = (SELECT max(seq) FROM events)";
inline constexpr std::string_view kFirst = "SELECT hash FROM events WHERE seq = 1";
inline constexpr std::string_view kLease =
    "SELECT token, holder, host, taken_ns, renewed_ns, expires_ns FROM lease WHERE id = 1";

inline constexpr std::string_view kFamilies =
    "SELECT name, spec, baseline, stack, profile, volume, jobs FROM family"
    " WHERE spec IS NOT NULL ORDER BY seq";
inline constexpr std::string_view kFamily =
    "SELECT name, spec, baseline, stack, profile, volume, jobs FROM family"
    " WHERE name = ? AND spec IS NOT NULL";

inline constexpr std::string_view kHypothesis =
    "SELECT id, state, since_ns, body, outlook FROM hypothesis WHERE id = ?";
inline constexpr std::string_view kHypothesisByPrefix =
    "SELECT id, state, since_ns, body, outlook FROM hypothesis WHERE id >= ?1 AND id < ?1 || "
    "char(1114111)"
    " ORDER BY id LIMIT 4";
inline constexpr std::string_view kHypothesesOfFamilyInState =
    "SELECT id, state, since_ns, body, outlook FROM hypothesis WHERE family = ? AND state = ? "
    "ORDER BY seq";
inline constexpr std::string_view kHypothesesOfFamily =
    "SELECT id, state, since_ns, body, outlook FROM hypothesis WHERE family = ? ORDER BY seq";
inline constexpr std::string_view kHypothesesInState =
    "SELECT id, state, since_ns, body, outlook FROM hypothesis WHERE state = ? ORDER BY seq";
inline constexpr std::string_view kAllHypotheses =
    "SELECT id, state, since_ns, body, outlook FROM hypothesis ORDER BY seq";
// Backwards by the primary key, or by the end of an index that has the filters: a page reads its
// own rows and no others. ?1 is where it begins, ?2 the family, ?3 the state, ?4 the most rows.
inline constexpr std::string_view kHypothesisPage =
    "SELECT h.id, h.state, h.since_ns, h.body, h.outlook, h.seq, v.at_ns, v.body"
    " FROM hypothesis AS h LEFT JOIN verdict AS v ON v.hypothesis = h.id WHERE h.seq < ?1"
    " AND '' = ?2 AND '' = ?3 ORDER BY h.seq DESC LIMIT ?4";
inline constexpr std::string_view kHypothesisPageOfFamily =
    "SELECT h.id, h.state, h.since_ns, h.body, h.outlook, h.seq, v.at_ns, v.body"
    " FROM hypothesis AS h INDEXED BY hypothesis_of LEFT JOIN verdict AS v ON v.hypothesis = h.id"
    " WHERE h.seq < ?1 AND h.family = ?2 AND '' = ?3 ORDER BY h.seq DESC LIMIT ?4";
inline constexpr std::string_view kHypothesisPageInState =
    "SELECT h.id, h.state, h.since_ns, h.body, h.outlook, h.seq, v.at_ns, v.body"
    " FROM hypothesis AS h INDEXED BY hypothesis_state LEFT JOIN verdict AS v"
    " ON v.hypothesis = h.id WHERE h.seq < ?1 AND '' = ?2 AND h.state = ?3"
    " ORDER BY h.seq DESC LIMIT ?4";
inline constexpr std::string_view kHypothesisPageOfBoth =
    "SELECT h.id, h.state, h.since_ns, h.body, h.outlook, h.seq, v.at_ns, v.body"
    " FROM hypothesis AS h INDEXED BY hypothesis_family LEFT JOIN verdict AS v"
    " ON v.hypothesis = h.id WHERE h.seq < ?1 AND h.family = ?2 AND h.state = ?3"
    " ORDER BY h.seq DESC LIMIT ?4";
inline constexpr std::string_view kHypothesisCount =
    "SELECT coalesce(sum(count), 0) FROM hypothesis_count"
    " WHERE (?1 = '' OR family = ?1) AND (?2 = '' OR state = ?2)";
inline constexpr std::string_view kHolderOfKey =
    "SELECT id, state, since_ns, body, outlook FROM hypothesis WHERE key = ? AND state IN"
    " ('live', 'promoted', 'declined', 'refuted', 'no effect', 'harmful')";
inline constexpr std::string_view kHypothesesWithKey =
    "SELECT id, state, since_ns, body, outlook FROM hypothesis WHERE key = ? ORDER BY seq";
inline constexpr std::string_view kSearch =
    "SELECT rowid FROM search WHERE search MATCH ? ORDER BY rowid DESC LIMIT ?";
inline constexpr std::string_view kHypothesisAt =
    "SELECT id, state, since_ns, body, outlook FROM hypothesis WHERE seq = ?";

inline constexpr std::string_view kLiveExperiments =
    "SELECT state, stage, at_ns, comparison, body, resumed FROM experiment WHERE state = 'live'"
    " ORDER BY seq";
inline constexpr std::string_view kExperiment =
    "SELECT state, stage, at_ns, comparison, body, resumed FROM experiment WHERE id = ?";

// Columns of a run, in the order that pair_of() in rows.h reads them.
inline constexpr std::string_view kRunsOfExperiment =
    "SELECT reservation, family, experiment, purpose, idx, variant_second, cpus, worker_run_id,"
    " state, reserved ->> 'accelerator_s', spent ->> 'accelerator_s', at_ns, request, fact FROM "
    "run WHERE experiment = ? ORDER BY seq";
inline constexpr std::string_view kRunsInFlight =
    "SELECT reservation, family, experiment, purpose, idx, variant_second, cpus, worker_run_id,"
    " state, reserved ->> 'accelerator_s', spent ->> 'accelerator_s', at_ns, request, fact FROM run"
    " WHERE state IN ('reserved', 'submitted') ORDER BY seq";
inline constexpr std::string_view kRunsOfFamily =
    "SELECT reservation, family, experiment, purpose, idx, variant_second, cpus, worker_run_id,"
    " state, reserved ->> 'accelerator_s', spent ->> 'accelerator_s', at_ns, request, fact FROM "
    "run WHERE family = ? ORDER BY seq";
inline constexpr std::string_view kRunsOfFamilyFor =
    "SELECT reservation, family, experiment, purpose, idx, variant_second, cpus, worker_run_id,"
    " state, reserved ->> 'accelerator_s', spent ->> 'accelerator_s', at_ns, request, fact FROM "
    "run WHERE family = ? AND purpose = ?"
    " ORDER BY seq";
inline constexpr std::string_view kLatestRunsOfFamilyFor =
    "SELECT reservation, family, experiment, purpose, idx, variant_second, cpus, worker_run_id,"
    " state, reserved ->> 'accelerator_s', spent ->> 'accelerator_s', at_ns, request, fact FROM "
    "run WHERE family = ? AND purpose = ?"
    " ORDER BY seq DESC";

inline constexpr std::string_view kVotes =
    "SELECT body FROM vote WHERE experiment = ? ORDER BY seq";
inline constexpr std::string_view kGatesInState =
    "SELECT state, actor, reason, body FROM gate WHERE state = ? ORDER BY seq";
inline constexpr std::string_view kAllGates =
    "SELECT state, actor, reason, body FROM gate ORDER BY seq";
inline constexpr std::string_view kNewestGates =
    "SELECT state, actor, reason, body FROM gate ORDER BY seq DESC LIMIT ?";
inline constexpr std::string_view kGateOf =
    "SELECT state, actor, reason, body FROM gate WHERE experiment = ?";
inline constexpr std::string_view kVerdict = "SELECT at_ns, body FROM verdict WHERE hypothesis = ?";
inline constexpr std::string_view kVerdictsOfFamily =
    "SELECT at_ns, body FROM verdict WHERE family = ? ORDER BY seq DESC LIMIT ?";
inline constexpr std::string_view kVerdicts =
    "SELECT at_ns, body FROM verdict ORDER BY seq DESC LIMIT ?";
inline constexpr std::string_view kStacksOfFamily =
    "SELECT at_ns, body FROM stack WHERE family = ? ORDER BY seq";
inline constexpr std::string_view kAllStacks = "SELECT at_ns, body FROM stack ORDER BY seq";
inline constexpr std::string_view kSavings =
    "SELECT family, hypothesis, predicted, realised FROM saving ORDER BY seq";
inline constexpr std::string_view kEarnings =
    "SELECT family, month, jobs, used, saved, lower, upper FROM earning ORDER BY family, month";
inline constexpr std::string_view kOutlaysByMonth =
    "SELECT family, month, spent FROM outlay WHERE resource = ? ORDER BY family, month";
inline constexpr std::string_view kAllCanaries =
    "SELECT state, actor, reason, closed_ns, result, body FROM canary ORDER BY seq";
inline constexpr std::string_view kCanariesOfFamily =
    "SELECT state, actor, reason, closed_ns, result, body FROM canary WHERE family = ?"
    " ORDER BY number";
inline constexpr std::string_view kCanariesInState =
    "SELECT state, actor, reason, closed_ns, result, body FROM canary WHERE state = ?"
    " ORDER BY seq";
inline constexpr std::string_view kOpenCampaign =
    "SELECT id, k, alpha, seed, registered, promoted FROM campaign WHERE open = 1";
inline constexpr std::string_view kAsks =
    "SELECT id, family, about, role, tier, state, reserved, spent, request, outcome, at_ns FROM ask"
    " WHERE (?1 = '' OR family = ?1) AND (?2 = '' OR state = ?2) ORDER BY seq";
inline constexpr std::string_view kBudgets =
    "SELECT resource, allowed, committed, spent, overrun FROM budget ORDER BY resource";
inline constexpr std::string_view kOutlays =
    "SELECT family, sum(spent) FROM outlay WHERE resource = ? GROUP BY family";
inline constexpr std::string_view kTrackRecords = "SELECT family, tried, won FROM track_record";
inline constexpr std::string_view kLeverRecords = "SELECT bottleneck, tried, won FROM lever_record";
inline constexpr std::string_view kChoice = "SELECT family, at_ns, body FROM choice";
inline constexpr std::string_view kTallies = "SELECT name, count FROM tally ORDER BY name";

inline constexpr std::string_view kEventsBefore =
    "SELECT seq, at_ns, actor, kind, subject, payload, hash FROM events WHERE seq < ?"
    " ORDER BY seq DESC LIMIT ?";
inline constexpr std::string_view kEventsOfSubjectBefore =
    "SELECT seq, at_ns, actor, kind, subject, payload, hash FROM events"
    " WHERE subject = ? AND seq < ? ORDER BY seq DESC LIMIT ?";
inline constexpr std::string_view kEventsAfter =
    "SELECT seq, at_ns, actor, kind, subject, payload, hash FROM events WHERE seq > ?"
    " ORDER BY seq";

}  // namespace amdahl::ledger::sqlite
