#include "ledger/postgres/schema.h"

namespace amdahl::ledger::postgres {

// The row of amdahl_ledger is what appends lock, so that one of them is under way at a time. The
// trigger moves it, so that no client can add an event that does not follow the last one: the hash
// is computed again as docs/format/ledger.md describes it. Tables are named by the schema of the
// trigger's table, so that a restored or renamed schema works.
const std::string_view kTables = R"sql(
CREATE TABLE amdahl_ledger(
  id      integer PRIMARY KEY CHECK (id = 1),
  format  integer NOT NULL,
  version integer NOT NULL,
  seq     bigint NOT NULL,
  hash    text NOT NULL
);
CREATE TABLE amdahl_events(
  seq     bigint PRIMARY KEY,
  at_ns   bigint NOT NULL,
  actor   text NOT NULL CHECK (actor <> ''),
  kind    text NOT NULL,
  subject text NOT NULL,
  payload text NOT NULL,
  hash    text NOT NULL CHECK (length(hash) = 64)
);
CREATE TABLE amdahl_lease(
  id         integer PRIMARY KEY CHECK (id = 1),
  token      bigint NOT NULL,
  holder     text NOT NULL,
  host       text NOT NULL,
  place      text NOT NULL,
  nonce      text NOT NULL,
  taken_ns   bigint NOT NULL,
  renewed_ns bigint NOT NULL,
  expires_ns bigint NOT NULL
);

CREATE FUNCTION amdahl_event_new() RETURNS trigger LANGUAGE plpgsql
AS $$
DECLARE
  last_seq  bigint;
  last_hash text;
  field     text;
  chain     text := '';
BEGIN
  EXECUTE format('SELECT seq, hash FROM %I.amdahl_ledger WHERE id = 1 FOR UPDATE', TG_TABLE_SCHEMA)
    INTO last_seq, last_hash;
  IF NEW.seq IS DISTINCT FROM last_seq + 1 THEN
    RAISE EXCEPTION 'an event gets the number after the last';
  END IF;
  FOREACH field IN ARRAY ARRAY[last_hash, NEW.seq::text, NEW.at_ns::text, NEW.actor, NEW.kind,
                               NEW.subject, NEW.payload] LOOP
    chain := chain || octet_length(field) || ':' || field || ',';
  END LOOP;
  IF NEW.hash IS DISTINCT FROM encode(sha256(convert_to(chain, 'UTF8')), 'hex') THEN
    RAISE EXCEPTION 'the hash of event % does not follow from the event before', NEW.seq;
  END IF;
  EXECUTE format('UPDATE %I.amdahl_ledger SET seq = $1, hash = $2 WHERE id = 1', TG_TABLE_SCHEMA)
    USING NEW.seq, NEW.hash;
  RETURN NEW;
END $$;
CREATE TRIGGER amdahl_event_new BEFORE INSERT ON amdahl_events
  FOR EACH ROW EXECUTE FUNCTION amdahl_event_new();

CREATE FUNCTION amdahl_refuse() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN RAISE EXCEPTION '%', TG_ARGV[0]; END $$;
CREATE TRIGGER amdahl_event_change BEFORE UPDATE ON amdahl_events
  EXECUTE FUNCTION amdahl_refuse('events are for ever: none may be changed');
CREATE TRIGGER amdahl_event_keep BEFORE DELETE OR TRUNCATE ON amdahl_events
  EXECUTE FUNCTION amdahl_refuse('events are for ever: none may be deleted');
CREATE TRIGGER amdahl_ledger_keep BEFORE DELETE OR TRUNCATE ON amdahl_ledger
  EXECUTE FUNCTION amdahl_refuse('the head of a ledger is never forgotten');
CREATE TRIGGER amdahl_ledger_change BEFORE UPDATE ON amdahl_ledger FOR EACH ROW
  WHEN (NEW.seq < OLD.seq OR NEW.version < OLD.version)
  EXECUTE FUNCTION amdahl_refuse('a ledger only grows');
CREATE TRIGGER amdahl_lease_change BEFORE UPDATE ON amdahl_lease FOR EACH ROW
  WHEN (NEW.token < OLD.token)
  EXECUTE FUNCTION amdahl_refuse('the token of a lease only grows');
CREATE TRIGGER amdahl_lease_keep BEFORE DELETE OR TRUNCATE ON amdahl_lease
  EXECUTE FUNCTION amdahl_refuse('the token of a lease is never forgotten');
)sql";

}  // namespace amdahl::ledger::postgres
