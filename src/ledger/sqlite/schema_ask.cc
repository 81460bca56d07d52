#include <string_view>

namespace amdahl::ledger::sqlite {
namespace {

// A question is asked once of each tier. Charges are those of runs.
constexpr std::string_view kAsk = R"sql(
CREATE TABLE ask(
  seq      INTEGER PRIMARY KEY,
  id       TEXT NOT NULL UNIQUE CHECK (id <> ''),
  family   TEXT NOT NULL CHECK (family <> ''),
  about    TEXT NOT NULL CHECK (about <> ''),
  role     TEXT NOT NULL CHECK (role IN ('propose', 'attack', 'dream')),
  tier     INTEGER NOT NULL CHECK (tier >= 0),
  state    TEXT NOT NULL CHECK (state IN ('reserved', 'settled')),
  reserved TEXT NOT NULL CHECK (json_type(reserved) = 'object'),
  spent    TEXT NOT NULL DEFAULT '{}' CHECK (json_type(spent) = 'object'),
  request  TEXT NOT NULL,
  outcome  TEXT NOT NULL DEFAULT '',
  at_ns    INTEGER NOT NULL,
  CHECK ((state = 'settled') = (outcome <> '')),
  UNIQUE (family, about, role, tier)
) STRICT;
CREATE INDEX ask_state ON ask(state);
CREATE TRIGGER ask_new BEFORE INSERT ON ask BEGIN
  SELECT RAISE(ABORT, 'a question must be reserved before it is settled')
    WHERE NEW.state <> 'reserved' OR NEW.spent <> '{}';
  SELECT RAISE(ABORT, 'this question was asked before') WHERE EXISTS (SELECT 1 FROM ask
    WHERE id = NEW.id OR seq = NEW.seq OR (family = NEW.family AND about = NEW.about
      AND role = NEW.role AND tier = NEW.tier));
END;
CREATE TRIGGER ask_committed AFTER INSERT ON ask BEGIN
  SELECT RAISE(ABORT, 'what a question reserves is whole millionths of named resources')
    FROM json_each(NEW.reserved) WHERE type <> 'integer' OR value < 0;
  INSERT INTO budget(resource, committed) SELECT key, value FROM json_each(NEW.reserved) WHERE TRUE
    ON CONFLICT (resource) DO UPDATE SET committed = committed + excluded.committed;
END;
CREATE TRIGGER ask_change BEFORE UPDATE ON ask BEGIN
  SELECT RAISE(ABORT, 'a question that was settled is final') WHERE OLD.state = 'settled';
  SELECT RAISE(ABORT, 'a question goes from reserved to settled, and nothing else of it changes')
    WHERE NEW.state <> 'settled' OR NEW.seq IS NOT OLD.seq OR NEW.id IS NOT OLD.id
      OR NEW.family IS NOT OLD.family OR NEW.about IS NOT OLD.about OR NEW.role IS NOT OLD.role
      OR NEW.tier IS NOT OLD.tier OR NEW.reserved IS NOT OLD.reserved
      OR NEW.request IS NOT OLD.request OR NEW.at_ns IS NOT OLD.at_ns;
END;
CREATE TRIGGER ask_settled AFTER UPDATE OF state ON ask BEGIN
  SELECT RAISE(ABORT, 'what a question spends is whole millionths of named resources')
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
CREATE TRIGGER ask_keep BEFORE DELETE ON ask
BEGIN SELECT RAISE(ABORT, 'questions are for ever'); END;
)sql";

}  // namespace

std::string_view ask_sql() { return kAsk; }

}  // namespace amdahl::ledger::sqlite
