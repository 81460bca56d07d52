#include <array>

#include <fmt/core.h>

#include "ledger/sqlite/schema.h"

// Why triggers say with words what a UNIQUE or CHECK beside them says already: their message is
// for people, and INSERT OR REPLACE would otherwise delete the row in the way without a sound.
// References are checked by triggers too, because SQLite's foreign keys are off unless each
// connection turns them on.
namespace amdahl::ledger::sqlite {

std::string_view ask_sql();     // schema_ask.cc.
std::string_view canary_sql();  // schema_canary.cc.

namespace {

constexpr std::string_view kPlain = R"sql(
CREATE TABLE tally(
  name  TEXT PRIMARY KEY,
  count INTEGER NOT NULL CHECK (count >= 0)
) STRICT;

CREATE TABLE campaign(
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE CHECK (id <> ''),
  k          INTEGER NOT NULL CHECK (k > 0),
  alpha      REAL NOT NULL CHECK (alpha > 0 AND alpha < 1),
  seed       TEXT NOT NULL,
  seed_hash  TEXT NOT NULL,
  open       INTEGER NOT NULL CHECK (open IN (0, 1)),
  registered INTEGER NOT NULL DEFAULT 0 CHECK (registered BETWEEN 0 AND k),
  promoted   INTEGER NOT NULL DEFAULT 0 CHECK (promoted BETWEEN 0 AND registered)
) STRICT;
CREATE UNIQUE INDEX campaign_open ON campaign(open) WHERE open = 1;
CREATE TRIGGER campaign_new BEFORE INSERT ON campaign BEGIN
  SELECT RAISE(ABORT, 'this campaign was opened before')
    WHERE EXISTS (SELECT 1 FROM campaign WHERE id = NEW.id OR seq = NEW.seq);
  SELECT RAISE(ABORT, 'another campaign is open')
    WHERE NEW.open = 1 AND EXISTS (SELECT 1 FROM campaign WHERE open = 1);
END;
CREATE TRIGGER campaign_keep BEFORE DELETE ON campaign
BEGIN SELECT RAISE(ABORT, 'campaigns are for ever'); END;

CREATE TABLE budget(
  resource  TEXT PRIMARY KEY CHECK (resource <> ''),
  allowed   INTEGER,
  committed INTEGER NOT NULL DEFAULT 0 CHECK (committed >= 0),
  spent     INTEGER NOT NULL DEFAULT 0 CHECK (spent >= 0),
  overrun   INTEGER NOT NULL DEFAULT 0 CHECK (overrun >= 0),
  CHECK (allowed IS NULL OR committed + spent <= allowed)
) STRICT;
CREATE TRIGGER budget_keep BEFORE DELETE ON budget
BEGIN SELECT RAISE(ABORT, 'budgets are for ever: set another limit'); END;

CREATE TABLE outlay(
  resource TEXT NOT NULL,
  family   TEXT NOT NULL,
  month    TEXT NOT NULL,
  spent    INTEGER NOT NULL CHECK (spent >= 0),
  PRIMARY KEY (resource, family, month)
) STRICT;

CREATE TABLE track_record(
  family TEXT PRIMARY KEY,
  tried  INTEGER NOT NULL CHECK (tried >= 0),
  won    INTEGER NOT NULL CHECK (won BETWEEN 0 AND tried)
) STRICT;

CREATE TABLE lever_record(
  bottleneck TEXT PRIMARY KEY,
  tried      INTEGER NOT NULL CHECK (tried >= 0),
  won        INTEGER NOT NULL CHECK (won BETWEEN 0 AND tried)
) STRICT;

CREATE TABLE choice(
  seq    INTEGER PRIMARY KEY,
  family TEXT NOT NULL,
  at_ns  INTEGER NOT NULL,
  body   TEXT NOT NULL
) STRICT;
CREATE TRIGGER choice_new BEFORE INSERT ON choice
BEGIN DELETE FROM choice; END;

CREATE TABLE family(
  seq      INTEGER PRIMARY KEY,
  name     TEXT NOT NULL UNIQUE CHECK (name <> ''),
  spec     TEXT,
  baseline TEXT NOT NULL DEFAULT '{}',
  stack    TEXT NOT NULL DEFAULT '[]',
  profile  TEXT,
  volume   REAL NOT NULL DEFAULT 0,
  jobs     INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TRIGGER family_keep BEFORE DELETE ON family
BEGIN SELECT RAISE(ABORT, 'families are for ever'); END;

CREATE TABLE vote(
  seq        INTEGER PRIMARY KEY,
  experiment TEXT NOT NULL,
  check_id   TEXT NOT NULL CHECK (check_id <> ''),
  body       TEXT NOT NULL,
  UNIQUE (experiment, check_id)
) STRICT;
CREATE TRIGGER vote_new BEFORE INSERT ON vote BEGIN
  SELECT RAISE(ABORT, 'only a live experiment is voted on')
    WHERE NOT EXISTS (SELECT 1 FROM experiment WHERE id = NEW.experiment AND state = 'live');
END;

CREATE TABLE stack(
  seq    INTEGER PRIMARY KEY,
  family TEXT NOT NULL,
  at_ns  INTEGER NOT NULL,
  body   TEXT NOT NULL
) STRICT;
CREATE INDEX stack_family ON stack(family, seq);

CREATE TABLE saving(
  seq        INTEGER PRIMARY KEY,
  hypothesis TEXT NOT NULL UNIQUE,
  family     TEXT NOT NULL,
  predicted  REAL NOT NULL,
  realised   REAL
) STRICT;

CREATE TABLE earning(
  seq    INTEGER NOT NULL,
  family TEXT NOT NULL,
  month  TEXT NOT NULL CHECK (month GLOB '[0-9][0-9][0-9][0-9]-[0-1][0-9]'),
  jobs   INTEGER NOT NULL CHECK (jobs >= 0),
  used   REAL NOT NULL CHECK (used >= 0),
  saved  REAL NOT NULL,
  lower  REAL NOT NULL,
  upper  REAL NOT NULL CHECK (lower <= saved AND saved <= upper),
  PRIMARY KEY (family, month)
) STRICT;

CREATE VIRTUAL TABLE search USING fts5(
  id UNINDEXED, title, mechanism, change, reason, tokenize = 'porter unicode61');
)sql";

constexpr std::string_view kHypothesisTable = R"sql(
CREATE TABLE hypothesis(
  seq           INTEGER PRIMARY KEY,
  id            TEXT NOT NULL UNIQUE CHECK (id <> ''),
  family        TEXT NOT NULL CHECK (family <> ''),
  key           TEXT NOT NULL CHECK (key <> ''),
  state         TEXT NOT NULL CHECK (state IN ('live', 'promoted', 'declined', 'refuted',
                  'no effect', 'harmful', 'inconclusive', 'invalid', 'aborted', 'dropped',
                  'reopened', 'parked')),
  since_ns      INTEGER NOT NULL,
  reopened_by   TEXT NOT NULL DEFAULT '',
  reopen_reason TEXT NOT NULL DEFAULT '',
  body          TEXT NOT NULL,
  outlook       TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX hypothesis_key ON hypothesis(key)
  WHERE state IN ('live', 'promoted', 'declined', 'refuted', 'no effect', 'harmful');
CREATE INDEX hypothesis_any_key ON hypothesis(key);
CREATE INDEX hypothesis_family ON hypothesis(family, state);
CREATE INDEX hypothesis_of ON hypothesis(family);
CREATE INDEX hypothesis_state ON hypothesis(state);
CREATE TABLE hypothesis_count(
  family TEXT NOT NULL,
  state  TEXT NOT NULL,
  count  INTEGER NOT NULL,
  PRIMARY KEY (family, state)
) STRICT;
CREATE TRIGGER hypothesis_one_more AFTER INSERT ON hypothesis BEGIN
  INSERT INTO hypothesis_count VALUES (NEW.family, NEW.state, 1)
    ON CONFLICT (family, state) DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER hypothesis_moved AFTER UPDATE OF state ON hypothesis WHEN NEW.state <> OLD.state
BEGIN
  UPDATE hypothesis_count SET count = count - 1 WHERE family = OLD.family AND state = OLD.state;
  INSERT INTO hypothesis_count VALUES (NEW.family, NEW.state, 1)
    ON CONFLICT (family, state) DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER hypothesis_new BEFORE INSERT ON hypothesis BEGIN
  SELECT RAISE(ABORT, 'a hypothesis starts live') WHERE NEW.state <> 'live';
  SELECT RAISE(ABORT, 'a hypothesis with this id was proposed before')
    WHERE EXISTS (SELECT 1 FROM hypothesis WHERE id = NEW.id OR seq = NEW.seq);
  SELECT RAISE(ABORT, 'another hypothesis holds this key')
    WHERE EXISTS (SELECT 1 FROM hypothesis WHERE key = NEW.key AND state IN
      ('live', 'promoted', 'declined', 'refuted', 'no effect', 'harmful'));
END;
CREATE TRIGGER hypothesis_change BEFORE UPDATE ON hypothesis BEGIN
  SELECT RAISE(ABORT, 'a hypothesis never changes but in its state')
    WHERE NEW.seq IS NOT OLD.seq OR NEW.id IS NOT OLD.id OR NEW.family IS NOT OLD.family
      OR NEW.key IS NOT OLD.key OR NEW.body IS NOT OLD.body;
  SELECT RAISE(ABORT, 'what is predicted is fixed once the hypothesis is put to the test')
    WHERE NEW.outlook IS NOT OLD.outlook AND (OLD.state <> 'live'
      OR EXISTS (SELECT 1 FROM experiment WHERE hypothesis = OLD.id));
  SELECT RAISE(ABORT, 'a reopened hypothesis is final: propose it under a new id')
    WHERE OLD.state = 'reopened';
  SELECT RAISE(ABORT, 'only what blocks its key can be reopened')
    WHERE NEW.state = 'reopened' AND OLD.state NOT IN
      ('promoted', 'declined', 'refuted', 'no effect', 'harmful', 'parked');
  SELECT RAISE(ABORT, 'only a person reopens a hypothesis, not the cycle and not a policy')
    WHERE NEW.state = 'reopened' AND (lower(trim(NEW.reopened_by)) IN ('', 'cycle')
      OR lower(trim(NEW.reopened_by)) LIKE 'policy:%');
  SELECT RAISE(ABORT, 'a hypothesis is reopened with a reason')
    WHERE NEW.state = 'reopened' AND trim(NEW.reopen_reason, ' ' || char(9, 10, 13)) = '';
  SELECT RAISE(ABORT, 'a hypothesis ends by its verdict alone')
    WHERE NEW.state NOT IN (OLD.state, 'reopened') AND (OLD.state <> 'live' OR NOT EXISTS
      (SELECT 1 FROM verdict WHERE hypothesis = OLD.id
        AND kind = iif(NEW.state = 'parked', 'no effect', NEW.state)));
END;
CREATE TRIGGER hypothesis_keep BEFORE DELETE ON hypothesis
BEGIN SELECT RAISE(ABORT, 'hypotheses are for ever'); END;
)sql";

constexpr std::string_view kExperimentTable = R"sql(
CREATE TABLE experiment(
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE CHECK (id <> ''),
  hypothesis TEXT NOT NULL UNIQUE,
  family     TEXT NOT NULL,
  campaign   TEXT NOT NULL,
  state      TEXT NOT NULL CHECK (state IN ('live', 'closed')),
  stage      TEXT NOT NULL CHECK (stage <> ''),
  at_ns      INTEGER NOT NULL,
  comparison TEXT,
  body       TEXT NOT NULL,
  resumed    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX experiment_live ON experiment(state) WHERE state = 'live';
CREATE TRIGGER experiment_new BEFORE INSERT ON experiment BEGIN
  SELECT RAISE(ABORT, 'an experiment starts live') WHERE NEW.state <> 'live';
  SELECT RAISE(ABORT, 'an experiment with this id was registered before')
    WHERE EXISTS (SELECT 1 FROM experiment WHERE id = NEW.id OR seq = NEW.seq);
  SELECT RAISE(ABORT, 'the hypothesis was put to the test before')
    WHERE EXISTS (SELECT 1 FROM experiment WHERE hypothesis = NEW.hypothesis);
  SELECT RAISE(ABORT, 'an experiment needs a live hypothesis of its family')
    WHERE NOT EXISTS (SELECT 1 FROM hypothesis
      WHERE id = NEW.hypothesis AND state = 'live' AND family = NEW.family);
  SELECT RAISE(ABORT, 'an experiment is registered in the open campaign')
    WHERE NOT EXISTS (SELECT 1 FROM campaign WHERE id = NEW.campaign AND open = 1);
END;
CREATE TRIGGER experiment_registered AFTER INSERT ON experiment BEGIN
  UPDATE campaign SET registered = registered + 1 WHERE id = NEW.campaign;
END;
CREATE TRIGGER experiment_change BEFORE UPDATE ON experiment BEGIN
  SELECT RAISE(ABORT, 'the experiment is closed') WHERE OLD.state = 'closed';
  SELECT RAISE(ABORT, 'an experiment is pre-registered: only its stage moves')
    WHERE NEW.seq IS NOT OLD.seq OR NEW.id IS NOT OLD.id OR NEW.hypothesis IS NOT OLD.hypothesis
      OR NEW.family IS NOT OLD.family OR NEW.campaign IS NOT OLD.campaign
      OR NEW.at_ns IS NOT OLD.at_ns OR NEW.body IS NOT OLD.body;
  SELECT RAISE(ABORT, 'an experiment is closed by its verdict alone')
    WHERE NEW.state = 'closed'
      AND NOT EXISTS (SELECT 1 FROM verdict WHERE experiment = OLD.id);
END;
CREATE TRIGGER experiment_keep BEFORE DELETE ON experiment
BEGIN SELECT RAISE(ABORT, 'experiments are for ever'); END;
)sql";

constexpr std::string_view kRun = R"sql(
CREATE TABLE run(
  seq            INTEGER PRIMARY KEY,
  reservation    TEXT NOT NULL UNIQUE CHECK (reservation <> ''),
  family         TEXT NOT NULL CHECK (family <> ''),
  experiment     TEXT NOT NULL,
  purpose        TEXT NOT NULL CHECK (purpose <> ''),
  idx            INTEGER NOT NULL,
  variant_second INTEGER NOT NULL CHECK (variant_second IN (0, 1)),
  cpus           TEXT NOT NULL,
  state          TEXT NOT NULL CHECK (state IN ('reserved', 'submitted', 'collected', 'void')),
  worker_run_id  TEXT UNIQUE CHECK (worker_run_id <> ''),
  reserved       TEXT NOT NULL CHECK (json_type(reserved) = 'object'),
  spent          TEXT NOT NULL DEFAULT '{}' CHECK (json_type(spent) = 'object'),
  at_ns          INTEGER NOT NULL,
  request        TEXT NOT NULL,
  fact           TEXT,
  reason         TEXT NOT NULL DEFAULT '',
  CHECK (state <> 'submitted' OR worker_run_id IS NOT NULL),
  UNIQUE (experiment, family, purpose, idx)
) STRICT;
CREATE INDEX run_in_flight ON run(state) WHERE state IN ('reserved', 'submitted');
CREATE INDEX run_family ON run(family, purpose);
CREATE TRIGGER run_new BEFORE INSERT ON run BEGIN
  SELECT RAISE(ABORT, 'a run must be reserved before it is submitted')
    WHERE NEW.state <> 'reserved' OR NEW.worker_run_id IS NOT NULL OR NEW.spent <> '{}'
      OR NEW.fact IS NOT NULL;
  SELECT RAISE(ABORT, 'this run was reserved before')
    WHERE EXISTS (SELECT 1 FROM run WHERE reservation = NEW.reservation OR seq = NEW.seq);
  SELECT RAISE(ABORT, 'this index was drawn before for the same purpose')
    WHERE EXISTS (SELECT 1 FROM run WHERE experiment = NEW.experiment AND family = NEW.family
      AND purpose = NEW.purpose AND idx = NEW.idx);
  SELECT RAISE(ABORT, 'a run is reserved for a live experiment of its family, or for none')
    WHERE NEW.experiment <> '' AND NOT EXISTS (SELECT 1 FROM experiment
      WHERE id = NEW.experiment AND state = 'live' AND family = NEW.family);
END;
CREATE TRIGGER run_committed AFTER INSERT ON run BEGIN
  SELECT RAISE(ABORT, 'what a run reserves is whole millionths of named resources')
    FROM json_each(NEW.reserved) WHERE type <> 'integer' OR value < 0;
  INSERT INTO budget(resource, committed) SELECT key, value FROM json_each(NEW.reserved) WHERE TRUE
    ON CONFLICT (resource) DO UPDATE SET committed = committed + excluded.committed;
END;
CREATE TRIGGER run_change BEFORE UPDATE ON run BEGIN
  SELECT RAISE(ABORT, 'a run that was collected or voided is final')
    WHERE OLD.state IN ('collected', 'void');
  SELECT RAISE(ABORT, 'what a run was reserved for never changes')
    WHERE NEW.seq IS NOT OLD.seq OR NEW.reservation IS NOT OLD.reservation
      OR NEW.family IS NOT OLD.family OR NEW.experiment IS NOT OLD.experiment
      OR NEW.purpose IS NOT OLD.purpose OR NEW.idx IS NOT OLD.idx
      OR NEW.variant_second IS NOT OLD.variant_second OR NEW.cpus IS NOT OLD.cpus
      OR NEW.reserved IS NOT OLD.reserved OR NEW.at_ns IS NOT OLD.at_ns
      OR NEW.request IS NOT OLD.request;
  SELECT RAISE(ABORT, 'the run was submitted before') WHERE OLD.state = 'submitted'
      AND (NEW.state = 'submitted' OR NEW.worker_run_id IS NOT OLD.worker_run_id);
  SELECT RAISE(ABORT, 'a run goes from reserved to submitted to collected or void')
    WHERE NEW.state = 'reserved'
      OR (NEW.state = 'submitted' AND (NEW.spent <> '{}' OR NEW.fact IS NOT NULL));
  SELECT RAISE(ABORT, 'another run has this worker_run_id')
    WHERE EXISTS (SELECT 1 FROM run
      WHERE worker_run_id = NEW.worker_run_id AND reservation <> NEW.reservation);
END;
CREATE TRIGGER run_settled AFTER UPDATE OF state ON run
  WHEN NEW.state IN ('collected', 'void') AND OLD.state IN ('reserved', 'submitted')
BEGIN
  SELECT RAISE(ABORT, 'what a run spends is whole millionths of named resources')
    FROM json_each(NEW.spent) WHERE type <> 'integer' OR value < 0;
  INSERT INTO budget(resource) SELECT key FROM json_each(NEW.spent) WHERE TRUE
    ON CONFLICT (resource) DO NOTHING;
  UPDATE budget SET committed = committed - charge.planned,
      spent = spent + min(charge.used, charge.planned),
      overrun = overrun + max(0, charge.used - charge.planned)
    FROM (SELECT key, sum(planned) AS planned, sum(used) AS used FROM
        (SELECT key, value AS planned, 0 AS used FROM json_each(NEW.reserved)
         UNION ALL SELECT key, 0, value FROM json_each(NEW.spent)) GROUP BY key) AS charge
    WHERE resource = charge.key;
  INSERT INTO outlay
    SELECT key, NEW.family, strftime('%Y-%m', NEW.at_ns / 1000000000, 'unixepoch'), value
      FROM json_each(NEW.spent) WHERE TRUE
    ON CONFLICT (resource, family, month) DO UPDATE SET spent = spent + excluded.spent;
END;
CREATE TRIGGER run_keep BEFORE DELETE ON run
BEGIN SELECT RAISE(ABORT, 'runs are for ever'); END;
)sql";

constexpr std::string_view kGate = R"sql(
CREATE TABLE gate(
  seq        INTEGER PRIMARY KEY,
  experiment TEXT NOT NULL UNIQUE,
  state      TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'withdrawn')),
  actor      TEXT NOT NULL DEFAULT '',
  reason     TEXT NOT NULL DEFAULT '',
  decided_ns INTEGER,
  body       TEXT NOT NULL
) STRICT;
CREATE INDEX gate_state ON gate(state);
CREATE TRIGGER gate_new BEFORE INSERT ON gate BEGIN
  SELECT RAISE(ABORT, 'a gate opens undecided')
    WHERE NEW.state <> 'pending' OR NEW.actor <> '' OR NEW.reason <> '';
  SELECT RAISE(ABORT, 'this experiment came to the gate before')
    WHERE EXISTS (SELECT 1 FROM gate WHERE experiment = NEW.experiment OR seq = NEW.seq);
  SELECT RAISE(ABORT, 'only a live experiment comes to the gate')
    WHERE NOT EXISTS (SELECT 1 FROM experiment WHERE id = NEW.experiment AND state = 'live');
END;
CREATE TRIGGER gate_change BEFORE UPDATE ON gate BEGIN
  SELECT RAISE(ABORT, 'a gate decision is final') WHERE OLD.state <> 'pending';
  SELECT RAISE(ABORT, 'what was put before the gate never changes')
    WHERE NEW.seq IS NOT OLD.seq OR NEW.experiment IS NOT OLD.experiment
      OR NEW.body IS NOT OLD.body;
  SELECT RAISE(ABORT, 'a gate is decided by a person or by a policy under its own name')
    WHERE NEW.state IN ('approved', 'rejected')
      AND lower(trim(NEW.actor)) IN ('', 'cycle', 'policy', 'policy:');
  SELECT RAISE(ABORT, 'a gate decision needs a reason')
    WHERE NEW.state IN ('approved', 'rejected')
      AND trim(NEW.reason, ' ' || char(9, 10, 13)) = '';
  SELECT RAISE(ABORT, 'a gate is withdrawn only by the verdict of its experiment')
    WHERE NEW.state = 'withdrawn'
      AND NOT EXISTS (SELECT 1 FROM verdict WHERE experiment = OLD.experiment);
END;
CREATE TRIGGER gate_keep BEFORE DELETE ON gate
BEGIN SELECT RAISE(ABORT, 'gate decisions are for ever'); END;
)sql";

constexpr std::string_view kVerdictTable = R"sql(
CREATE TABLE verdict(
  seq        INTEGER PRIMARY KEY,
  hypothesis TEXT NOT NULL UNIQUE,
  experiment TEXT UNIQUE CHECK (experiment <> ''),
  family     TEXT NOT NULL,
  kind       TEXT NOT NULL,
  at_ns      INTEGER NOT NULL,
  body       TEXT NOT NULL
) STRICT;
CREATE INDEX verdict_family ON verdict(family, seq);
CREATE TRIGGER verdict_new BEFORE INSERT ON verdict BEGIN
  SELECT RAISE(ABORT, 'the hypothesis has its verdict')
    WHERE EXISTS (SELECT 1 FROM verdict WHERE hypothesis = NEW.hypothesis OR seq = NEW.seq);
  SELECT RAISE(ABORT, 'the experiment has its verdict')
    WHERE EXISTS (SELECT 1 FROM verdict WHERE experiment = NEW.experiment);
  SELECT RAISE(ABORT, 'a verdict needs a live hypothesis of its family')
    WHERE NOT EXISTS (SELECT 1 FROM hypothesis
      WHERE id = NEW.hypothesis AND state = 'live' AND family = NEW.family);
  SELECT RAISE(ABORT, 'the verdict must name the live experiment of its hypothesis, or none')
    WHERE NEW.experiment IS NOT
      (SELECT id FROM experiment WHERE hypothesis = NEW.hypothesis AND state = 'live');
  SELECT RAISE(ABORT, 'nothing is promoted without an approved gate decision')
    WHERE NEW.kind = 'promoted' AND NOT EXISTS (SELECT 1 FROM gate
      WHERE experiment = NEW.experiment AND state = 'approved' AND actor <> '' AND reason <> '');
END;
CREATE TRIGGER verdict_given AFTER INSERT ON verdict BEGIN
  -- Until schema 7 an E of 5 was enough for no effect. Below 20 it holds no key.
  UPDATE hypothesis SET since_ns = NEW.at_ns, state = iif(NEW.kind = 'no effect'
      AND coalesce(NEW.body ->> '$.comparison.log_e_futile', 3) < 2.995, 'parked', NEW.kind)
    WHERE id = NEW.hypothesis;
  UPDATE experiment SET state = 'closed' WHERE id = NEW.experiment;
  UPDATE gate SET state = 'withdrawn' WHERE experiment = NEW.experiment AND state = 'pending';
  UPDATE campaign SET promoted = promoted + 1 WHERE NEW.kind = 'promoted'
    AND id = (SELECT campaign FROM experiment WHERE id = NEW.experiment);
  INSERT INTO tally VALUES ('verdict.' || NEW.kind, 1)
    ON CONFLICT (name) DO UPDATE SET count = count + 1;
  INSERT INTO track_record
    SELECT NEW.family, 1, NEW.kind = 'promoted'
      WHERE NEW.experiment IS NOT NULL AND NEW.kind NOT IN ('aborted', 'dropped')
    ON CONFLICT (family) DO UPDATE SET tried = tried + 1, won = won + excluded.won;
  INSERT INTO lever_record
    SELECT coalesce(json_extract(body, '$.bottleneck'), 'unknown'), 1, NEW.kind = 'promoted'
      FROM hypothesis WHERE id = NEW.hypothesis
        AND NEW.experiment IS NOT NULL AND NEW.kind NOT IN ('aborted', 'dropped')
    ON CONFLICT (bottleneck) DO UPDATE SET tried = tried + 1, won = won + excluded.won;
END;
CREATE TRIGGER verdict_change BEFORE UPDATE ON verdict
BEGIN SELECT RAISE(ABORT, 'a verdict never changes'); END;
CREATE TRIGGER verdict_keep BEFORE DELETE ON verdict
BEGIN SELECT RAISE(ABORT, 'verdicts are for ever'); END;
)sql";

// Keeps "table.state" in `tally` equal to the number of rows in that state.
std::string tally_triggers(std::string_view table) {
  return fmt::format(R"sql(
CREATE TRIGGER {0}_counted AFTER INSERT ON {0} BEGIN
  INSERT INTO tally VALUES ('{0}.' || NEW.state, 1)
    ON CONFLICT (name) DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER {0}_recounted AFTER UPDATE OF state ON {0} WHEN NEW.state <> OLD.state BEGIN
  UPDATE tally SET count = count - 1 WHERE name = '{0}.' || OLD.state;
  INSERT INTO tally VALUES ('{0}.' || NEW.state, 1)
    ON CONFLICT (name) DO UPDATE SET count = count + 1;
END;
)sql",
                     table);
}

}  // namespace

std::string projections_sql() {
  std::string sql;
  for (const auto part : {kPlain, kHypothesisTable, kExperimentTable, kRun, ask_sql(), kGate,
                          kVerdictTable, canary_sql()}) {
    sql += part;
  }
  for (const auto table : {"hypothesis", "experiment", "run", "ask", "gate", "canary"}) {
    sql += tally_triggers(table);
  }
  return sql;
}

}  // namespace amdahl::ledger::sqlite
