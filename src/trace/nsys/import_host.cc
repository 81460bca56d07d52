// What host threads did: calls of the runtime, ranges that the job marked, calls of the system.
#include <array>
#include <vector>

#include <fmt/format.h>

#include "trace/nsys/import.h"
#include "trace/nsys/import_rows.h"

namespace amdahl::trace::nsys {

using model::HostKind;
using model::LossKind;

namespace {

// "cudaLaunchKernel_v7000" as everyone else writes it.
std::string_view without_version(std::string_view name) {
  const auto at = name.rfind("_v");
  if (at == name.npos || at + 2 == name.size()) return name;
  const bool digits = name.find_first_not_of("0123456789", at + 2) == name.npos;
  return digits ? name.substr(0, at) : name;
}

// cuLaunchKernel is the driver's, cudaLaunchKernel the runtime's.
HostKind kind_of(std::string_view name) {
  const bool is_driver =
      name.size() > 2 && name.starts_with("cu") && name[2] >= 'A' && name[2] <= 'Z';
  return is_driver ? HostKind::kDriver : HostKind::kRuntime;
}

// "aten::mm, op_id = 7, sizes = [[2, 3], [3, 4]], input_op_ids = [...]" of emit_nvtx with
// record_shapes: the sizes, as in model::HostEvent::inputs; empty for other ranges.
std::string_view sizes_in(std::string_view range) {
  constexpr std::string_view kSizes = ", sizes = ";
  const std::size_t at = range.find(kSizes);
  if (at == range.npos) return {};
  std::string_view rest = range.substr(at + kSizes.size());
  return rest.substr(0, rest.find("]],") == rest.npos ? rest.size() : rest.find("]],") + 2);
}

// Ranges and marks; other rows of the table name categories, domains and threads.
bool is_range(std::int64_t type) { return type == 59 || type == 60 || type == 70 || type == 71; }
bool is_mark(std::int64_t type) { return type == 34 || type == 65; }

}  // namespace

void Import::keep_host(const Rows& rows, const char* table, std::uint32_t name, HostKind kind,
                       std::int64_t thread, std::uint32_t correlation, std::uint32_t stack) {
  const auto times = times_of(rows, table, 0);
  if (!times) return;
  model::HostEvent event{.start = times->start, .duration = times->duration};
  event.name = name;
  event.thread = thread_of(thread);
  event.correlation = correlation;
  event.stack = stack;
  event.kind = kind;
  builder_.trace().host_events.push_back(event);
}

// Frames of one stack follow each other, the innermost first.
void Import::read_stacks() {
  constexpr const char* kTable = "CUDA_CALLCHAINS";
  constexpr auto kColumns = std::to_array<std::string_view>({"id", "symbol", "stackDepth"});
  constexpr std::size_t kDeepest = 1024;
  std::vector<std::uint32_t> frames;
  std::int64_t chain = 0;
  const auto finish = [&] {
    std::uint32_t stack = model::kNone;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      stack = builder_.frame(stack, builder_.trace().names[*frame]);
    }
    if (!frames.empty()) stacks_.emplace(chain, stack);
    frames.clear();
  };
  for_each(kTable, kColumns, [&](const Rows& rows) {
    if (rows.integer(0) != chain) finish();
    chain = rows.integer(0);
    if (frames.size() < kDeepest) frames.push_back(name_of(rows.integer(1)));
    return has_room(kTable);
  });
  finish();
}

void Import::read_calls() {
  read_stacks();
  constexpr const char* kTable = "CUPTI_ACTIVITY_KIND_RUNTIME";
  constexpr auto kColumns = std::to_array<std::string_view>(
      {"start", "end", "globalTid", "correlationId", "nameId", "callchainId"});
  std::unordered_map<std::int64_t, std::uint32_t> names;  // Without their versions.
  for_each(kTable, kColumns, [&](const Rows& rows) {
    const auto [found, is_new] = names.try_emplace(rows.integer(4), 0);
    if (is_new) {
      const std::string_view full = builder_.trace().names[name_of(rows.integer(4))];
      found->second = builder_.intern(without_version(full));
    }
    const std::int64_t correlation = rows.integer(3);
    const auto stack = stacks_.find(rows.integer(5));
    keep_host(rows, kTable, found->second, kind_of(builder_.trace().names[found->second]),
              rows.integer(2),
              correlation > 0 ? builder_.correlation(static_cast<std::uint64_t>(correlation)) : 0,
              rows.is_null(5) || stack == stacks_.end() ? model::kNone : stack->second);
    return has_room(kTable);
  });
}

void Import::read_ranges() {
  constexpr const char* kTable = "NVTX_EVENTS";
  constexpr auto kColumns =
      std::to_array<std::string_view>({"start", "end", "globalTid", "eventType", "text", "textId"});
  for_each(kTable, kColumns, [&](const Rows& rows) {
    const std::int64_t type = rows.integer(3);
    const bool has_end = !rows.is_null(1);
    // For versions without a type: an event with an end is a range.
    if (rows.is_null(3) ? !has_end : !is_mark(type) && !(is_range(type) && has_end)) return true;
    const std::uint32_t name = !rows.is_null(4)   ? intern(rows.text(4))
                               : !rows.is_null(5) ? name_of(rows.integer(5))
                                                  : 0;
    const std::size_t before = builder_.trace().host_events.size();
    keep_host(rows, kTable, name, HostKind::kAnnotation, rows.integer(2), 0, model::kNone);
    const std::string_view sizes = sizes_in(builder_.trace().names[name]);
    if (!sizes.empty() && builder_.trace().host_events.size() > before) {
      const std::uint32_t inputs = intern(fmt::format("{}||", sizes));
      if (inputs <= model::kLastInputs) {
        builder_.trace().host_events.back().inputs = inputs & model::kLastInputs;
      }
    }
    return has_room(kTable);
  });
}

void Import::read_system_calls() {
  constexpr const char* kTable = "OSRT_API";
  constexpr auto kColumns =
      std::to_array<std::string_view>({"start", "end", "globalTid", "nameId"});
  for_each(kTable, kColumns, [&](const Rows& rows) {
    keep_host(rows, kTable, name_of(rows.integer(3)), HostKind::kOther, rows.integer(2), 0,
              model::kNone);
    return has_room(kTable);
  });
}

void Import::read_overheads() {
  constexpr auto kColumns =
      std::to_array<std::string_view>({"start", "end", "globalTid", "nameId"});
  for (const char* table : {"CUPTI_ACTIVITY_KIND_OVERHEAD", "PROFILER_OVERHEAD"}) {
    for_each(table, kColumns, [&](const Rows& rows) {
      if (rows.is_null(2)) return true;
      const std::uint32_t name =
          rows.is_null(3) ? builder_.intern("profiler") : name_of(rows.integer(3));
      keep_host(rows, table, name, HostKind::kOverhead, rows.integer(2), 0, model::kNone);
      return has_room(table);
    });
  }
}

}  // namespace amdahl::trace::nsys
