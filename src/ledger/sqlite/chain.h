// chain.h: the hash that ties each event to all before it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "db/sqlite.h"
#include "ledger/event.h"
#include "ledger/ledger.h"

namespace amdahl::ledger::sqlite {

// An event as its row has it. Views into the statement or the strings it was made from.
struct StoredEvent {
  std::int64_t seq = 0;
  std::int64_t at_ns = 0;
  std::string_view actor;
  std::string_view kind;
  std::string_view subject;
  std::string_view payload;  // Canonical JSON.
};

// SHA-256, in hex, of the netstrings of `previous` (empty for the first event) and of each field.
std::string chain_hash(std::string_view previous, const StoredEvent& event);

Result<Event> event_of(const StoredEvent& stored, std::string_view hash);
// From a row of "seq, at_ns, actor, kind, subject, payload, hash".
StoredEvent stored_event(const db::Statement& row);
Result<Event> event_of(const db::Statement& row);

}  // namespace amdahl::ledger::sqlite
