#include "ledger/sqlite/store.h"

#include <fmt/core.h>

#include "base/json.h"
#include "base/redact.h"
#include "ledger/sqlite/chain.h"
#include "ledger/sqlite/queries.h"
#include "ledger/sqlite/reduce.h"
#include "os/fault.h"

namespace amdahl::ledger::sqlite {
namespace {

// The payload as it will be stored, and as replay will see it: redacted, canonical, read back.
Result<std::string> canonical_payload(const Draft& draft) {
  Json payload = draft.payload.is_null() ? Json::object() : draft.payload;
  // Redaction looks at keys, so a document inside a string must be opened for it.
  if (payload.is_object()) {
    if (const auto request = payload.find("request");
        request != payload.end() && request->is_string()) {
      if (auto inner = parse_json(request->get_ref<const std::string&>())) {
        *request = *std::move(inner);
      }
    }
  }
  return dump_json(redact(payload));
}

// Views into `written`.
StoredEvent as_stored(const Written& written) {
  const Event& event = written.event;
  return {event.seq, event.at.count(), event.actor, event.kind, event.subject, written.text};
}

Result<> insert_event(db::Connection& db, const StoredEvent& event, std::string_view hash) {
  TRY(db.run("write the event",
             "INSERT INTO events(seq, at_ns, actor, kind, subject, payload, hash)"
             " VALUES (?, ?, ?, ?, ?, ?, ?)",
             event.seq, event.at_ns, event.actor, event.kind, event.subject, event.payload, hash));
  return Ok{};
}

}  // namespace

Result<Head> head_of(db::Connection& db) {
  db::Statement row = TRY(db.prepare("read the last event", kHead));
  Head head;
  if (TRY(row.step())) head = {row.integer(0), std::string(row.text(1))};
  return head;
}

Result<Written> write_new(db::Connection& db, const Draft& draft, const Head& last, Nanos at) {
  if (draft.actor.empty()) return bad_input("an event needs an actor");
  Written written;
  written.text = TRY(canonical_payload(draft));
  Event& event = written.event;
  event.seq = last.seq + 1;
  event.at = at;
  event.actor = draft.actor;
  event.kind = draft.kind;
  event.subject = draft.subject;
  event.payload = TRY(parse_json(written.text));
  const StoredEvent stored = as_stored(written);
  event.hash = chain_hash(last.hash, stored);
  TRY(check_new(event));
  TRY(reduce(db, {event, written.text}));
  TRY(insert_event(db, stored, event.hash));
  return written;
}

Result<> write_stored(db::Connection& db, const StoredEvent& stored, std::string_view hash,
                      const Head& last) {
  const std::string where = fmt::format("event {}", stored.seq);
  if (stored.seq != last.seq + 1 || hash != chain_hash(last.hash, stored)) {
    return conflict(fmt::format("{} does not follow event {}: its hash differs", where, last.seq));
  }
  const Event event = TRY(event_of(stored, hash));
  TRY(reduce(db, {event, stored.payload}).in(where));
  return insert_event(db, stored, hash);
}

Result<Written> write_copy(db::Connection& db, const Event& event, const Head& last) {
  Written written{event, dump_json(event.payload)};
  TRY(write_stored(db, as_stored(written), event.hash, last));
  return written;
}

Result<std::vector<Event>> Store::append(std::span<const Draft> drafts, std::int64_t fence) {
  std::vector<Event> events;
  if (drafts.empty()) return events;
  os::fault_point("ledger.append.begin");
  auto transaction = TRY(db::Transaction::begin(db_, db::Transaction::Kind::kWrite, "append"));
  if (fence != 0) TRY(check_fence(fence));
  Head last = TRY(head_of(db_));
  events.reserve(drafts.size());
  for (const Draft& draft : drafts) {
    events.push_back(TRY(write_new(db_, draft, last, clock_.unix_time())).event);
    last = {events.back().seq, events.back().hash};
  }
  os::fault_point("ledger.append.before_commit");
  TRY(transaction.commit());
  os::fault_point("ledger.append.after_commit");
  return events;
}

Result<> Store::import(std::span<const Event> events) {
  auto transaction = TRY(db::Transaction::begin(db_, db::Transaction::Kind::kWrite, "copy"));
  Head last = TRY(head_of(db_));
  for (const Event& event : events) {
    TRY(write_copy(db_, event, last));
    last = {event.seq, event.hash};
  }
  return transaction.commit();
}

}  // namespace amdahl::ledger::sqlite
