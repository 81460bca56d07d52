#include "trace/nsys/import.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "trace/nsys/import_rows.h"
#include "trace/time_range.h"

namespace amdahl::trace::nsys {

using model::LossKind;

namespace {

constexpr std::size_t kLongestName = 4096;

std::uint64_t name_key(std::int64_t pid, std::int64_t id) {
  return static_cast<std::uint64_t>(pid) << 32U ^ static_cast<std::uint64_t>(id);
}

}  // namespace

void Import::lose(LossKind kind, std::string_view example) {
  builder_.lose(source_, kind, 1, example);
}

bool Import::found_any() const {
  const model::Trace& trace = builder_.trace();
  const auto is_ours = [&](std::uint32_t of) { return of == source_; };
  const auto has = [&](const auto& rows) {
    return std::ranges::any_of(rows, [&](const auto& row) { return is_ours(row.source); });
  };
  return has(trace.processes) || has(trace.devices);
}

bool Import::has_room(const char* table) {
  const model::Trace& trace = builder_.trace();
  const std::uint64_t used = 40 * (trace.device_events.size() + trace.host_events.size()) +
                             sizeof(model::DeviceDetail) * trace.details.size() +
                             sizeof(model::SyncEvent) * trace.syncs.size();
  if (used < limits_.memory_bytes) return true;
  lose(LossKind::kBudget, fmt::format("{}: the rest of it", table));
  return false;
}

std::uint32_t Import::intern(std::string_view text) {
  if (text.size() > kLongestName) {
    lose(LossKind::kTooLong, text.substr(0, 40));
    text = text.substr(0, kLongestName);
  }
  return builder_.intern(text);
}

std::uint32_t Import::name_of(std::int64_t id) {
  if (const auto found = names_.find(id); found != names_.end()) return found->second;
  std::uint32_t name = builder_.intern("(name is not in the file)");
  if (!names_broken_ && database_.has("StringIds")) {
    const auto text = database_.value("StringIds", "value", "id", id);
    if (!text) {
      // One unreadable name means that the table is unreadable: do not try a million times.
      names_broken_ = true;
      lose(LossKind::kUnreadable, text.error().text);
    } else if (!text->empty()) {
      name = intern(*text);
    }
  }
  names_.emplace(id, name);
  return name;
}

std::optional<Import::Times> Import::times_of(const Rows& rows, const char* table, int start) {
  const auto tell = [&](LossKind kind) {
    lose(kind, fmt::format("{}: start {}, end {}", table, rows.text(start), rows.text(start + 1)));
  };
  // SQLite takes any text for the number 0.
  const bool is_open = rows.is_null(start + 1);
  if (!rows.is_integer(start) || (!is_open && !rows.is_integer(start + 1))) {
    tell(LossKind::kNoTime);
    return std::nullopt;
  }
  const std::int64_t begin = rows.integer(start);
  const std::int64_t end = is_open ? begin : rows.integer(start + 1);
  std::int64_t at = 0;
  std::int64_t last = 0;
  std::int64_t duration = 0;
  if (__builtin_add_overflow(base_, begin, &at) || __builtin_add_overflow(base_, end, &last) ||
      __builtin_sub_overflow(end, begin, &duration) || Nanos(at) < kEarliest ||
      Nanos(last) > kLatest || Nanos(duration) > kLongest) {
    tell(LossKind::kTimeRange);
    return std::nullopt;
  }
  if (duration < 0) {
    tell(LossKind::kNegativeDuration);
    duration = 0;
  }
  return Times{Nanos(at), Nanos(duration)};
}

std::uint32_t Import::process_of(std::int64_t global) {
  return builder_.process(source_, pid_of(global));
}

std::uint32_t Import::thread_of(std::int64_t global) {
  return builder_.thread(process_of(global), tid_of(global));
}

// CUDA numbers devices per process; the export maps them to devices, if it can.
std::int64_t Import::device_id(std::int64_t pid, std::int64_t ordinal) const {
  const auto found = device_map_.find(name_key(pid, ordinal));
  return found == device_map_.end() ? ordinal : found->second;
}

void Import::read_device_map() {
  constexpr auto kColumns = std::to_array<std::string_view>({"gpuId", "cudaId", "pid"});
  for_each("TARGET_INFO_CUDA_DEVICE", kColumns, [&](const Rows& rows) {
    device_map_[name_key(rows.integer(2), rows.integer(1))] = rows.integer(0);
    return true;
  });
}

void Import::read_session(const Input& input) {
  model::TraceSource source;
  source.file = input.name;
  source.format = "nsys";
  source.bytes = database_.bytes();
  constexpr auto kColumns = std::to_array<std::string_view>({"utcEpochNs"});
  std::optional<std::int64_t> epoch;
  // Not for_each: there is no source yet to count a loss against.
  if (auto found = database_.rows("TARGET_INFO_SESSION_START_TIME", kColumns); found && *found) {
    auto rows = **std::move(found);
    const auto more = rows.next();
    if (more && *more && rows.integer(0) > 0) epoch = rows.integer(0);
  }
  if (epoch) {
    source.clock = model::Clock::kUnix;
    source.base = Nanos(*epoch);
    base_ = *epoch;
  }
  source_ = builder_.source(std::move(source));
  read_host_name();
  read_device_map();
}

// Only the host name is read: the rest of the host's description, and the list of its processes,
// may be private.
void Import::read_host_name() {
  constexpr auto kColumns = std::to_array<std::string_view>({"name", "value"});
  for_each("TARGET_INFO_SYSTEM_ENV", kColumns, [&](const Rows& rows) {
    if (rows.text(0) != "Hostname") return true;
    builder_.trace().sources[source_].host = std::string(rows.text(1).substr(0, kLongestName));
    return false;
  });
}

void Import::read_thread_names() {
  std::unordered_map<std::uint64_t, std::uint32_t> threads;
  model::Trace& trace = builder_.trace();
  for (std::uint32_t i = 0; i < trace.threads.size(); ++i) {
    const model::TraceProcess& process = trace.processes[trace.threads[i].process];
    if (process.source == source_) threads[name_key(process.id, trace.threads[i].id)] = i;
  }
  constexpr auto kColumns = std::to_array<std::string_view>({"globalTid", "nameId"});
  for_each("ThreadNames", kColumns, [&](const Rows& rows) {
    const std::int64_t global = rows.integer(0);
    const auto found = threads.find(name_key(pid_of(global), tid_of(global)));
    if (found != threads.end()) trace.threads[found->second].name = name_of(rows.integer(1));
    return true;
  });
}

void Import::read_gpus() {
  constexpr auto kColumns =
      std::to_array<std::string_view>({"id", "name", "totalMemory", "smCount"});
  model::Trace& trace = builder_.trace();
  for_each("TARGET_INFO_GPU", kColumns, [&](const Rows& rows) {
    for (model::TraceDevice& device : trace.devices) {
      if (device.source != source_ || device.id != rows.integer(0)) continue;
      device.name = intern(rows.text(1));
      device.memory_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, rows.integer(2)));
      device.multiprocessors =
          static_cast<std::uint32_t>(std::clamp<std::int64_t>(rows.integer(3), 0, 1 << 20));
    }
    return true;
  });
}

void Import::read_names() {
  model::Trace& trace = builder_.trace();
  std::unordered_map<std::int64_t, std::uint32_t> processes;
  for (std::uint32_t i = 0; i < trace.processes.size(); ++i) {
    if (trace.processes[i].source == source_) processes[trace.processes[i].id] = i;
  }
  constexpr auto kColumns = std::to_array<std::string_view>({"globalPid", "name"});
  for_each("PROCESSES", kColumns, [&](const Rows& rows) {
    const auto found = processes.find(pid_of(rows.integer(0)));
    if (found != processes.end()) trace.processes[found->second].name = intern(rows.text(1));
    return true;
  });
  read_thread_names();
  read_gpus();
}

}  // namespace amdahl::trace::nsys
