// schema.h: the tables of a shared ledger on its server, and the triggers that keep its promises.
#pragma once

#include <string_view>

namespace amdahl::ledger::postgres {

// Of the tables below; what events mean is versioned by ledger::schema_version().
inline constexpr int kFormat = 1;

// Run in one transaction by whoever finds no tables. They go into the first schema of the
// connection's search path, so that one database can hold several ledgers.
extern const std::string_view kTables;

// Unix time in nanoseconds by the server's clock; $N::bigint beside it is a test's.
inline constexpr std::string_view kNow =
    "(extract(epoch FROM clock_timestamp()) * 1000000000)::bigint";

}  // namespace amdahl::ledger::postgres
