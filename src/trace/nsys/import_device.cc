// Device work: kernels, graphs, copies, sets, and synchronisations.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "trace/nsys/import.h"
#include "trace/nsys/import_rows.h"

namespace amdahl::trace::nsys {

using model::CopyKind;
using model::DeviceEvent;
using model::DeviceKind;
using model::HostMemory;
using model::LossKind;

namespace {

struct CopyRow {
  std::int64_t code;  // As Nsight writes it.
  CopyKind kind;
  std::string_view name;  // As Kineto writes it.
};

constexpr auto kCopies = std::to_array<CopyRow>({
    {1, CopyKind::kHostToDevice, "HtoD"},
    {2, CopyKind::kDeviceToHost, "DtoH"},
    {3, CopyKind::kHostToDevice, "HtoA"},
    {4, CopyKind::kDeviceToHost, "AtoH"},
    {5, CopyKind::kDeviceToDevice, "AtoA"},
    {6, CopyKind::kDeviceToDevice, "AtoD"},
    {7, CopyKind::kDeviceToDevice, "DtoA"},
    {8, CopyKind::kDeviceToDevice, "DtoD"},
    {9, CopyKind::kHostToHost, "HtoH"},
    {10, CopyKind::kPeerToPeer, "PtoP"},
    {11, CopyKind::kHostToDevice, "HtoD (unified)"},
    {12, CopyKind::kDeviceToHost, "DtoH (unified)"},
    {13, CopyKind::kDeviceToDevice, "DtoD (unified)"},
});

constexpr std::string_view kMemoryNames[] = {"Pageable", "Pinned", "Device", "Array",
                                             "Managed",  "Device", "Managed"};

std::string_view memory_name(std::int64_t kind) {
  const bool known = kind >= 0 && kind < static_cast<std::int64_t>(std::size(kMemoryNames));
  return known ? kMemoryNames[static_cast<std::size_t>(kind)] : "Unknown";
}

HostMemory host_memory(std::int64_t kind) {
  const std::string_view name = memory_name(kind);
  if (name == "Pageable") return HostMemory::kPageable;
  if (name == "Pinned") return HostMemory::kPinned;
  if (name == "Managed") return HostMemory::kManaged;
  return HostMemory::kUnknown;
}

// Kernels get their short names, unless only the namespace shows that they communicate.
bool is_telling(std::string_view demangled) {
  return demangled.find("::ep::") != demangled.npos || demangled.find("deep_ep::") == 0;
}

}  // namespace

std::optional<Import::Where> Import::where_of(const Rows& rows, const char* table, int device) {
  if (rows.is_null(device)) {
    lose(LossKind::kNoDevice, table);
    return std::nullopt;
  }
  const bool has_process = !rows.is_null(device + 3);
  const std::int64_t global = rows.integer(device + 3);
  const std::int64_t id = device_id(pid_of(global), rows.integer(device));
  Where where;
  where.stream =
      builder_.stream(builder_.device(source_, id), has_process ? process_of(global) : model::kNone,
                      rows.integer(device + 1));
  const std::int64_t correlation = rows.integer(device + 2);
  if (correlation > 0) {
    where.correlation = builder_.correlation(static_cast<std::uint64_t>(correlation));
  }
  return where;
}

std::uint32_t Import::detail_of(std::int64_t bytes, std::int64_t graph_node) {
  if (bytes <= 0 && graph_node == 0) return model::kNone;
  auto& details = builder_.trace().details;
  model::DeviceDetail detail;
  detail.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, bytes));
  detail.graph_node = static_cast<std::uint64_t>(graph_node);
  details.push_back(detail);
  return static_cast<std::uint32_t>(details.size() - 1);
}

void Import::read_kernels() {
  constexpr const char* kTable = "CUPTI_ACTIVITY_KIND_KERNEL";
  constexpr auto kColumns =
      std::to_array<std::string_view>({"start", "end", "deviceId", "streamId", "correlationId",
                                       "globalPid", "shortName", "demangledName", "graphNodeId"});
  for_each(kTable, kColumns, [&](const Rows& rows) {
    const auto times = times_of(rows, kTable, 0);
    const auto where = times ? where_of(rows, kTable, 2) : std::nullopt;
    if (!where) return true;
    DeviceEvent event{.start = times->start, .duration = times->duration};
    event.name = name_of(rows.integer(rows.is_null(6) ? 7 : 6));
    if (!rows.is_null(7)) {
      const std::uint32_t demangled = name_of(rows.integer(7));
      if (is_telling(builder_.trace().names[demangled])) event.name = demangled;
    }
    event.stream = where->stream;
    event.correlation = where->correlation;
    event.detail = detail_of(0, rows.integer(8));
    builder_.trace().device_events.push_back(event);
    return has_room(kTable);
  });
}

// Where graphs were traced as wholes their kernels are in no other table.
void Import::read_graphs() {
  constexpr const char* kTable = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
  constexpr auto kColumns = std::to_array<std::string_view>(
      {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphId"});
  for_each(kTable, kColumns, [&](const Rows& rows) {
    const auto times = times_of(rows, kTable, 0);
    const auto where = times ? where_of(rows, kTable, 2) : std::nullopt;
    if (!where) return true;
    DeviceEvent event{.start = times->start, .duration = times->duration};
    event.name = intern(fmt::format("CUDA graph {}", rows.integer(6)));
    event.stream = where->stream;
    event.correlation = where->correlation;
    // Nodes have their own numbers there; only that it is a graph matters.
    event.detail = detail_of(0, std::max<std::int64_t>(1, rows.integer(6)));
    builder_.trace().device_events.push_back(event);
    return has_room(kTable);
  });
}

void Import::read_copies() {
  constexpr const char* kTable = "CUPTI_ACTIVITY_KIND_MEMCPY";
  constexpr auto kColumns = std::to_array<std::string_view>(
      {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "copyKind", "srcKind",
       "dstKind", "bytes", "graphNodeId"});
  for_each(kTable, kColumns, [&](const Rows& rows) {
    const auto times = times_of(rows, kTable, 0);
    const auto where = times ? where_of(rows, kTable, 2) : std::nullopt;
    if (!where) return true;
    DeviceEvent event{.start = times->start, .duration = times->duration};
    event.kind = DeviceKind::kCopy;
    const auto copy = std::ranges::find(kCopies, rows.integer(6), &CopyRow::code);
    const bool known = copy != kCopies.end();
    event.copy = known ? copy->kind : CopyKind::kUnknown;
    event.name = intern(fmt::format("Memcpy {} ({} -> {})", known ? copy->name : "Unknown",
                                    memory_name(rows.is_null(7) ? -1 : rows.integer(7)),
                                    memory_name(rows.is_null(8) ? -1 : rows.integer(8))));
    if (event.copy == CopyKind::kHostToDevice && !rows.is_null(7)) {
      event.host_memory = host_memory(rows.integer(7));
    } else if (event.copy == CopyKind::kDeviceToHost && !rows.is_null(8)) {
      event.host_memory = host_memory(rows.integer(8));
    }
    event.stream = where->stream;
    event.correlation = where->correlation;
    event.detail = detail_of(rows.integer(9), rows.integer(10));
    builder_.trace().device_events.push_back(event);
    return has_room(kTable);
  });
}

void Import::read_sets() {
  constexpr const char* kTable = "CUPTI_ACTIVITY_KIND_MEMSET";
  constexpr auto kColumns =
      std::to_array<std::string_view>({"start", "end", "deviceId", "streamId", "correlationId",
                                       "globalPid", "bytes", "graphNodeId", "memKind"});
  for_each(kTable, kColumns, [&](const Rows& rows) {
    const auto times = times_of(rows, kTable, 0);
    const auto where = times ? where_of(rows, kTable, 2) : std::nullopt;
    if (!where) return true;
    DeviceEvent event{.start = times->start, .duration = times->duration};
    event.kind = DeviceKind::kSet;
    event.name =
        intern(fmt::format("Memset ({})", memory_name(rows.is_null(8) ? -1 : rows.integer(8))));
    event.stream = where->stream;
    event.correlation = where->correlation;
    event.detail = detail_of(rows.integer(6), rows.integer(7));
    builder_.trace().device_events.push_back(event);
    return has_room(kTable);
  });
}

namespace {

std::uint64_t event_key(std::int64_t global, std::int64_t event) {
  return static_cast<std::uint64_t>(pid_of(global)) << 40U ^ static_cast<std::uint64_t>(event);
}

model::SyncKind sync_kind(std::int64_t code) {
  switch (code) {
    case 1:
      return model::SyncKind::kEvent;
    case 2:
      return model::SyncKind::kStreamWait;
    case 3:
      return model::SyncKind::kStream;
    case 4:
      return model::SyncKind::kDevice;
    default:
      return model::SyncKind::kUnknown;
  }
}

}  // namespace

// Which call last recorded an event, and on which stream.
void Import::read_records() {
  constexpr const char* kTable = "CUPTI_ACTIVITY_KIND_CUDA_EVENT";
  constexpr auto kColumns = std::to_array<std::string_view>(
      {"deviceId", "streamId", "correlationId", "globalPid", "eventId"});
  for_each(kTable, kColumns, [&](const Rows& rows) {
    const auto where = where_of(rows, kTable, 0);
    if (!where || rows.integer(2) <= 0) return true;
    records_[event_key(rows.integer(3), rows.integer(4))].push_back(
        {rows.integer(2), where->stream});
    return has_room(kTable);
  });
  for (auto& [event, of] : records_) std::ranges::sort(of, {}, &Record::correlation);
}

void Import::read_syncs() {
  read_records();
  constexpr const char* kTable = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
  constexpr auto kColumns =
      std::to_array<std::string_view>({"start", "end", "deviceId", "streamId", "correlationId",
                                       "globalPid", "syncType", "deprecatedSyncType", "eventId"});
  constexpr std::int64_t kNoStream = 0xFFFFFFFF;
  for_each(kTable, kColumns, [&](const Rows& rows) {
    const auto times = times_of(rows, kTable, 0);
    if (!times) return true;
    model::SyncEvent sync{.start = times->start, .duration = times->duration};
    sync.kind = sync_kind(rows.integer(rows.is_null(6) ? 7 : 6));
    const std::int64_t stream = rows.integer(3);
    if (!rows.is_null(2) && stream >= 0 && stream != kNoStream) {
      if (const auto where = where_of(rows, kTable, 2)) sync.stream = where->stream;
    }
    const std::int64_t correlation = rows.integer(4);
    if (correlation > 0) {
      sync.correlation = builder_.correlation(static_cast<std::uint64_t>(correlation));
    }
    if (const auto found = records_.find(event_key(rows.integer(5), rows.integer(8)));
        found != records_.end() && correlation > 0) {
      const auto after =
          std::ranges::lower_bound(found->second, correlation, {}, &Record::correlation);
      if (after != found->second.begin()) {
        const Record& record = *std::prev(after);
        sync.awaited_stream = record.stream;
        sync.record_correlation =
            builder_.correlation(static_cast<std::uint64_t>(record.correlation));
      }
    }
    builder_.trace().syncs.push_back(sync);
    return has_room(kTable);
  });
}

}  // namespace amdahl::trace::nsys
