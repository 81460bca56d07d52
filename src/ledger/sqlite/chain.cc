#include "ledger/sqlite/chain.h"

#include <iterator>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/json.h"

namespace amdahl::ledger::sqlite {

std::string chain_hash(std::string_view previous, const StoredEvent& event) {
  std::string bytes;
  bytes.reserve(event.payload.size() + 256);
  // The length before each field keeps "ab" + "c" and "a" + "bc" apart.
  const auto add = [&](std::string_view field) {
    fmt::format_to(std::back_inserter(bytes), "{}:{},", field.size(), field);
  };
  add(previous);
  add(fmt::to_string(event.seq));
  add(fmt::to_string(event.at_ns));
  add(event.actor);
  add(event.kind);
  add(event.subject);
  add(event.payload);
  return sha256_hex(bytes);
}

StoredEvent stored_event(const db::Statement& row) {
  return {row.integer(0), row.integer(1), row.text(2), row.text(3), row.text(4), row.text(5)};
}

Result<Event> event_of(const StoredEvent& stored, std::string_view hash) {
  Event event;
  event.seq = stored.seq;
  event.at = Nanos{stored.at_ns};
  event.actor = stored.actor;
  event.kind = stored.kind;
  event.subject = stored.subject;
  event.payload = TRY(parse_json(stored.payload).in(fmt::format("event {}", stored.seq)));
  event.hash = hash;
  return event;
}

Result<Event> event_of(const db::Statement& row) {
  return event_of(stored_event(row), row.text(6));
}

}  // namespace amdahl::ledger::sqlite
