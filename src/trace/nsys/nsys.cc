#include "trace/nsys/nsys.h"

#include <array>

#include <fmt/format.h>

#include "trace/nsys/database.h"
#include "trace/nsys/import.h"
#include "trace/rocpd/rocpd.h"

namespace amdahl::trace::nsys {
namespace {

constexpr std::string_view kNames = "StringIds";

// Every version has the first; any of the others may be missing, and none of them alone makes an
// export.
constexpr auto kTables = std::to_array<std::string_view>(
    {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUPTI_ACTIVITY_KIND_MEMCPY",
     "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS", "OSRT_API"});

// Databases of other profilers, by how one of their tables begins.
struct OtherDatabase {
  std::string_view table;
  std::string_view is;
  std::string_view run;
};
constexpr auto kOthers = std::to_array<OtherDatabase>({
    {"rocpd_kernel_dispatch", "a rocpd database of rocprofv3", "the same with --format rocpd"},
    {"rocpd_op", "an RPD trace (rocmProfileData), which is not supported",
     "in PyTorch prof.export_chrome_trace(\"trace.json\"), or rocprof --sys-trace COMMAND, which "
     "writes a results.json"},
    {"COMPUTE_TASK_INFO", "a database of Ascend's profiler, which is not supported",
     "amdahl profile ASCEND_PROFILER_OUTPUT/trace_view.json (recorded with "
     "export_type=torch_npu.profiler.ExportType.Text)"},
});

Result<> expect_export(const Database& database) {
  for (const std::string_view table : kTables) {
    if (database.has(std::string(table))) return Ok{};
  }
  for (const OtherDatabase& other : kOthers) {
    if (!database.has_like(std::string(other.table))) continue;
    return bad_input(fmt::format("is {}; run: {}", other.is, other.run));
  }
  return bad_input(
      "is an SQLite database, but not an Nsight Systems export with events; create one with: "
      "nsys export --type sqlite REPORT.nsys-rep");
}

}  // namespace

bool claims(std::string_view head) { return head.starts_with(kMagic) && !rocpd::claims(head); }

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
