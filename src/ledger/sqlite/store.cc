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

constexpr std::size_t kIdDigits = 16;

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

}  // namespace

Result<Store::Head> Store::head() {
  db::Statement row = TRY(db_.prepare("read the last event", kHead));
  Head head;
  if (TRY(row.step())) head = {row.integer(0), std::string(row.text(1))};
  return head;
}

Result<std::string> Store::id() {
  db::Statement row = TRY(db_.prepare("read the first event", kFirst));
  return TRY(row.step()) ? std::string(row.text(0).substr(0, kIdDigits)) : std::string();
}

Result<Event> Store::append_one(const Draft& draft, const Head& last) {
  if (draft.actor.empty()) return bad_input("an event needs an actor");
  const std::string text = TRY(canonical_payload(draft));
  Event event;
  event.seq = last.seq + 1;
  event.at = clock_.unix_time();
  event.actor = draft.actor;
  event.kind = draft.kind;
  event.subject = draft.subject;
  event.payload = TRY(parse_json(text));
  event.hash = chain_hash(
      last.hash, {event.seq, event.at.count(), event.actor, event.kind, event.subject, text});
  TRY(check_new(event));
  TRY(reduce(db_, {event, text}));
  TRY(db_.run("write the event",
              "INSERT INTO events(seq, at_ns, actor, kind, subject, payload, hash)"
              " VALUES (?, ?, ?, ?, ?, ?, ?)",
              event.seq, event.at.count(), event.actor, event.kind, event.subject, text,
              event.hash));
  return event;
}

Result<std::vector<Event>> Store::append(std::span<const Draft> drafts, std::int64_t fence) {
  std::vector<Event> events;
  if (drafts.empty()) return events;
  os::fault_point("ledger.append.begin");
  auto transaction = TRY(db::Transaction::begin(db_, db::Transaction::Kind::kWrite, "append"));
  if (fence != 0) TRY(check_fence(fence));
  Head last = TRY(head());
  events.reserve(drafts.size());
  for (const Draft& draft : drafts) {
    events.push_back(TRY(append_one(draft, last)));
    last = {events.back().seq, events.back().hash};
  }
  os::fault_point("ledger.append.before_commit");
  TRY(transaction.commit());
  os::fault_point("ledger.append.after_commit");
  return events;
}

}  // namespace amdahl::ledger::sqlite
