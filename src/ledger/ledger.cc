#include "ledger/ledger.h"

#include "ledger/sqlite/schema.h"

namespace amdahl::ledger {

int schema_version() { return sqlite::kSchemaVersion; }

}  // namespace amdahl::ledger
