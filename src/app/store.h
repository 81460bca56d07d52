// store.h: the ledger of a configuration: a file beside the runs, or one that machines share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/config.h"
#include "base/result.h"
#include "ledger/ledger.h"

namespace amdahl::app {

// On a server: `[ledger] url` is set.
bool is_shared(const Config& config);
// Its file or address, for people.
std::string ledger_place(const Config& config);
// Of a shared one: its address, and this machine's replica of it.
ledger::ServerPlace server_place(const Config& config);

// kNotFound, with what to type next, if there is none and `create` is false.
Result<std::unique_ptr<ledger::Ledger>> open_ledger(const Config& config, bool create);
// The same, and null if there is none.
Result<std::unique_ptr<ledger::Ledger>> find_ledger(const Config& config);

struct CopiedLedger {
  std::int64_t copied = 0;  // Copied now; the rest was already there.
  std::int64_t events = 0;  // In both.
  std::string hash;         // Of the last event of both.
};
// Copies a ledger with its chain. `from` and `to` are files or addresses of servers. Both are
// verified; while it is copied no cycle can take the lease of `from`. kBusy if one has it,
// kConflict if `to` has other events.
Result<CopiedLedger> copy_ledger(const Config& config, const std::string& from,
                                 const std::string& to);

}  // namespace amdahl::app
