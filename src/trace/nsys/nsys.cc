#include "trace/nsys/nsys.h"

#include <array>

#include "trace/nsys/database.h"
#include "trace/nsys/import.h"

namespace amdahl::trace::nsys {
namespace {

constexpr std::string_view kNames = "StringIds";

// Every version has the first; of the others an export may lack any, and none of them makes one.
constexpr auto kTables = std::to_array<std::string_view>(
    {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUPTI_ACTIVITY_KIND_MEMCPY",
     "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS", "OSRT_API"});

Result<> expect_export(const Database& database) {
  for (const std::string_view table : kTables) {
    if (database.has(std::string(table))) return Ok{};
  }
  return bad_input(
      "is an SQLite database, but not an Nsight Systems export with events; create one with: "
      "nsys export --type sqlite REPORT.nsys-rep");
}

}  // namespace

bool claims(std::string_view head) { return head.starts_with(kMagic); }

Result<> read(const Input& input, const Limits& limits, model::TraceBuilder& builder) {
  Database database = TRY(Database::open(input, limits));
  TRY(expect_export(database));
  Import import(database, limits, builder);
  import.read_session(input);
  import.read_kernels();
  import.read_graphs();
  import.read_copies();
  import.read_sets();
  import.read_calls();
  import.read_syncs();
  import.read_ranges();
  import.read_overheads();
  import.read_system_calls();
  import.read_names();
  for (const std::string_view table : {kNames, kTables[0], kTables[3]}) {
    if (database.has(std::string(table))) continue;
    builder.lose(import.source(), model::LossKind::kMissingTable, 1, table);
  }
  if (!import.found_any()) {
    return bad_input("has no device events and no host events");
  }
  return Ok{};
}

}  // namespace amdahl::trace::nsys
