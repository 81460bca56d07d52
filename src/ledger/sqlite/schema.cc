#include "ledger/sqlite/schema.h"

#include <array>

namespace amdahl::ledger::sqlite {
namespace {

// An insert with a number of its own choosing is refused too, so that INSERT OR REPLACE, which
// deletes without firing a trigger, cannot overwrite an event.
constexpr std::string_view kBase = R"sql(
CREATE TABLE events(
  seq     INTEGER PRIMARY KEY,
  at_ns   INTEGER NOT NULL,
  actor   TEXT NOT NULL CHECK (actor <> ''),
  kind    TEXT NOT NULL,
  subject TEXT NOT NULL,
  payload TEXT NOT NULL,
  hash    TEXT NOT NULL CHECK (length(hash) = 64)
) STRICT;
CREATE INDEX events_subject ON events(subject, seq);
CREATE TRIGGER events_new BEFORE INSERT ON events
  WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM events)
BEGIN SELECT RAISE(ABORT, 'an event gets the number after the last'); END;
CREATE TRIGGER events_change BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are for ever: none may be changed'); END;
CREATE TRIGGER events_keep BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are for ever: none may be deleted'); END;

CREATE TABLE lease(
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  token      INTEGER NOT NULL,
  holder     TEXT NOT NULL,
  host       TEXT NOT NULL,
  taken_ns   INTEGER NOT NULL,
  renewed_ns INTEGER NOT NULL,
  expires_ns INTEGER NOT NULL
) STRICT;
CREATE TRIGGER lease_change BEFORE UPDATE ON lease WHEN NEW.token < OLD.token
BEGIN SELECT RAISE(ABORT, 'the token of a lease only grows'); END;
CREATE TRIGGER lease_keep BEFORE DELETE ON lease
BEGIN SELECT RAISE(ABORT, 'the token of a lease is never forgotten'); END;
)sql";

constexpr auto kMigrations = std::to_array<Migration>({
    {1, ""},  // Only the projections differ: track_record came.
    {2, ""},  // And here: runs charge every resource that they name; hypotheses may be dropped.
    {3, ""},  // And here: canaries came.
    {4, ""},  // And here: lever_record and choice came; aborted and dropped are no tries.
    {5, ""},  // And here: a baseline is what its stack comes to.
    {6, ""},  // And here: experiments are resumed; no effect on weak evidence is parked.
    {7, ""},  // And here: questions to models came.
    {8, ""},  // And here: earning came, outlay knows months, and a kept canary may raise an alarm.
    {9, ""},  // And here: tally counts what was not run because its answer was known.
});

constexpr auto kName = Projection::Order::kName;

// Tables whose rows have no id are named by what makes them unique.
constexpr auto kProjections = std::to_array<Projection>({
    {"campaign", "SELECT id, * FROM campaign ORDER BY seq"},
    {"budget", "SELECT resource, * FROM budget ORDER BY 1", kName},
    {"outlay", "SELECT family || ' ' || resource || ' ' || month, * FROM outlay ORDER BY 1", kName},
    {"track_record", "SELECT family, * FROM track_record ORDER BY 1", kName},
    {"lever_record", "SELECT bottleneck, * FROM lever_record ORDER BY 1", kName},
    {"choice", "SELECT 'of the last scan', * FROM choice ORDER BY seq"},
    {"family", "SELECT name, * FROM family ORDER BY seq"},
    {"hypothesis", "SELECT id, * FROM hypothesis ORDER BY seq"},
    {"hypothesis_count",
     "SELECT family || ' ' || state, * FROM hypothesis_count WHERE count > 0 ORDER BY 1", kName},
    {"experiment", "SELECT id, * FROM experiment ORDER BY seq"},
    {"run", "SELECT reservation, * FROM run ORDER BY seq"},
    {"ask", "SELECT id, * FROM ask ORDER BY seq"},
    {"vote", "SELECT experiment || ' ' || check_id, * FROM vote ORDER BY seq"},
    {"gate", "SELECT experiment, * FROM gate ORDER BY seq"},
    {"verdict", "SELECT hypothesis, * FROM verdict ORDER BY seq"},
    {"stack", "SELECT family || ' ' || printf('%020d', seq), * FROM stack ORDER BY seq"},
    {"saving", "SELECT hypothesis, * FROM saving ORDER BY seq"},
    {"earning", "SELECT family || ' ' || month, * FROM earning ORDER BY 1", kName},
    {"canary", "SELECT hypothesis, * FROM canary ORDER BY seq"},
    {"tally", "SELECT name, * FROM tally ORDER BY 1", kName},
    {"search", "SELECT id, rowid, * FROM search ORDER BY rowid"},
    // Dropping a trigger is how one would get around it.
    {"schema",
     "SELECT type || ' ' || name AS object, sql FROM sqlite_schema"
     " WHERE type IN ('trigger', 'index') AND sql IS NOT NULL ORDER BY 1",
     kName},
});

}  // namespace

Schema present_schema() { return {kSchemaVersion, kMigrations}; }

std::string base_sql() { return std::string(kBase); }

std::span<const Projection> projections() { return kProjections; }

}  // namespace amdahl::ledger::sqlite
