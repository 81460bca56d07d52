#include <fmt/core.h>

#include "ledger/event.h"
#include "ledger/postgres/store.h"

namespace amdahl::ledger::postgres {

// The server's chain is computed again from its rows; the replica must have the same hashes.
Result<> Store::check_server_chain(VerifyReport& report) {
  constexpr int kAtOnce = 1000;
  const auto add = [&](std::string text) { report.differences.push_back(std::move(text)); };
  sqlite::Head last;
  std::int64_t bad = 0;
  const sqlite::Head mine = TRY(sqlite::head_of(db_));  // The server may get more meanwhile.
  const auto check = [&](const sqlite::StoredEvent& event, std::string_view hash) -> Result<> {
    const bool fits = event.seq == last.seq + 1 && hash == sqlite::chain_hash(last.hash, event);
    if (!fits && bad == 0) bad = event.seq;
    auto row =
        TRY(db_.query("read the replica", "SELECT hash FROM events WHERE seq = ?", event.seq));
    const bool same = event.seq > mine.seq || (TRY(row.step()) && row.text(0) == hash);
    if (!same && bad == 0) {
      add(fmt::format("event {}: the replica's is another", event.seq));
      bad = event.seq;
    }
    last = {event.seq, std::string(hash)};
    return Ok{};
  };
  while (TRY(server_.fetch(last.seq, kAtOnce, check)) == kAtOnce) {
  }
  const Server::Look now = TRY(server_.look(0));
  const sqlite::Head& head = now.head.last;
  if (head.seq < last.seq || (head.seq == last.seq && head.hash != last.hash)) {
    add(fmt::format("amdahl_ledger: the head is event {}, but the last event is {}", head.seq,
                    last.seq));
  }
  if (bad != 0 && (report.bad_event == 0 || bad < report.bad_event)) report.bad_event = bad;
  return Ok{};
}

Result<VerifyReport> Store::verify() {
  TRY(patiently("verify", place_.wait, [&] { return catch_up(); }));
  VerifyReport report = TRY(Projections::verify());
  TRY(check_server_chain(report));
  return report;
}

}  // namespace amdahl::ledger::postgres
