#include "ledger/sqlite/schema.h"

namespace amdahl::ledger::sqlite {
namespace {

constexpr std::string_view kCanary = R"sql(
CREATE TABLE canary(
  seq        INTEGER PRIMARY KEY,
  hypothesis TEXT NOT NULL UNIQUE,
  family     TEXT NOT NULL,
  number     INTEGER NOT NULL CHECK (number >= 0),
  state      TEXT NOT NULL
    CHECK (state IN ('open', 'kept', 'rollback proposed', 'rolled back')),
  actor      TEXT NOT NULL DEFAULT '',
  reason     TEXT NOT NULL DEFAULT '',
  closed_ns  INTEGER,
  result     TEXT,
  body       TEXT NOT NULL,
  UNIQUE (family, number)
) STRICT;
CREATE INDEX canary_state ON canary(state);
CREATE TRIGGER canary_new BEFORE INSERT ON canary BEGIN
  SELECT RAISE(ABORT, 'a canary starts open') WHERE NEW.state <> 'open';
  SELECT RAISE(ABORT, 'the hypothesis has its canary')
    WHERE EXISTS (SELECT 1 FROM canary WHERE hypothesis = NEW.hypothesis OR seq = NEW.seq);
  SELECT RAISE(ABORT, 'another canary of the family has this number')
    WHERE EXISTS (SELECT 1 FROM canary WHERE family = NEW.family AND number = NEW.number);
  SELECT RAISE(ABORT, 'only a promoted hypothesis of the family has a canary')
    WHERE NOT EXISTS (SELECT 1 FROM hypothesis
      WHERE id = NEW.hypothesis AND state = 'promoted' AND family = NEW.family);
END;
CREATE TRIGGER canary_change BEFORE UPDATE ON canary BEGIN
  SELECT RAISE(ABORT, 'the terms of a canary never change')
    WHERE NEW.seq IS NOT OLD.seq OR NEW.hypothesis IS NOT OLD.hypothesis
      OR NEW.family IS NOT OLD.family OR NEW.number IS NOT OLD.number
      OR NEW.body IS NOT OLD.body;
  SELECT RAISE(ABORT, 'the canary is closed')
    WHERE OLD.state = 'rolled back'
      OR (OLD.state = 'kept' AND NEW.state <> 'rolled back'
        AND NOT (NEW.state = 'rollback proposed' AND OLD.actor = 'cycle'))
      OR (OLD.state = 'rollback proposed' AND NEW.state NOT IN ('kept', 'rolled back'));
  SELECT RAISE(ABORT, 'only a person keeps what a canary proposes to roll back')
    WHERE OLD.state = 'rollback proposed' AND NEW.state = 'kept'
      AND (lower(trim(NEW.actor)) IN ('', 'cycle') OR lower(trim(NEW.actor)) LIKE 'policy:%');
  SELECT RAISE(ABORT, 'a canary is closed with a reason')
    WHERE NEW.state <> 'open' AND trim(NEW.reason, ' ' || char(9, 10, 13)) = '';
  SELECT RAISE(ABORT, 'the change is still in the stack')
    WHERE NEW.state = 'rolled back' AND EXISTS (SELECT 1 FROM family, json_each(family.stack) AS s
      WHERE family.name = NEW.family AND s.value = NEW.hypothesis);
END;
CREATE TRIGGER canary_keep BEFORE DELETE ON canary
BEGIN SELECT RAISE(ABORT, 'canaries are for ever'); END;
)sql";

}  // namespace

std::string_view canary_sql() { return kCanary; }

}  // namespace amdahl::ledger::sqlite
