#include "trace/rocpd/rocpd.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "trace/nsys/database.h"
#include "trace/time_range.h"

namespace amdahl::trace::rocpd {
namespace {

using model::CopyKind;
using model::HostKind;
using model::LossKind;
using nsys::Database;
using nsys::Rows;

constexpr std::string_view kKernels = "rocpd_kernel_dispatch";
constexpr std::string_view kNoName = "(name is not in the file)";
constexpr std::size_t kLongestName = std::size_t{16} << 10U;

// Who did something and where. Older files have it in each row, newer ones in a track.
struct Track {
  std::int64_t process = 0;
  std::int64_t thread = 0;
  std::int64_t agent = 0;
  std::int64_t stream = 0;
};

struct Event {
  std::int64_t correlation = 0;  // Of a call and of what it launched: the internal one.
  std::uint32_t category = 0;
  std::uint32_t message = 0;  // Of a marked range.
};

struct Agent {
  bool is_gpu = false;
  std::int64_t index = 0;
  std::uint32_t name = 0;
};

// The columns of every table of events, in this order; those that a version lacks are null.
constexpr auto kColumns = std::to_array<std::string_view>(
    {"start", "end", "start_id", "end_id", "track_id", "pid", "tid", "agent_id", "stream_id",
     "event_id", "kernel_id", "name_id", "size", "src_agent_id", "dst_agent_id"});
enum Column : int {
  kStart,
  kEnd,
  kStartId,
  kEndId,
  kTrackId,
  kPid,
  kTid,
  kAgentId,
  kStreamId,
  kEventId,
  kKernelId,
  kNameId,
  kSize,
  kSource,
  kTarget,
};

// {"message":"forward"}: what a range was called.
std::string_view message_in(std::string_view json) {
  constexpr std::string_view kKey = "\"message\":";
  const std::size_t at = json.find(kKey);
  if (at == json.npos) return {};
  std::string_view rest = trim(json.substr(at + kKey.size()));
  if (!rest.starts_with('"')) return {};
  return rest.substr(1, rest.find('"', 1) - 1);
}

HostKind kind_of(std::string_view category) {
  if (contains(category, "MARKER")) return HostKind::kAnnotation;
  if (contains(category, "HIP")) return HostKind::kRuntime;
  if (contains(category, "HSA")) return HostKind::kDriver;
  return HostKind::kOther;
}

// The tables of one process: their names end alike.
class Part {
 public:
  Part(Database& database, const Limits& limits, std::uint32_t source, std::string suffix,
       model::TraceBuilder& builder)
      : database_{database},
        limits_{limits},
        source_{source},
        suffix_{std::move(suffix)},
        builder_{builder} {}

  void read() {
    read_shared();
    each(std::string(kKernels), kColumns, [&](const Rows& row) { kernel(row); });
    each("rocpd_memory_copy", kColumns, [&](const Rows& row) { copy(row); });
    each("rocpd_region", kColumns, [&](const Rows& row) { region(row); });
  }

 private:
  struct Times {
    Nanos start{};
    Nanos duration{};
  };

  void lose(LossKind kind, std::string_view example) { builder_.lose(source_, kind, 1, example); }

  template <class Use>
  void each(const std::string& table, std::span<const std::string_view> columns, const Use& use) {
    auto found = database_.rows(table + suffix_, columns);
    if (!found) return lose(LossKind::kUnreadable, found.error().text);
    auto rows = *std::move(found);
    if (!rows) return;
    while (true) {
      const auto more = rows->next();
      if (!more) return lose(LossKind::kTruncated, more.error().text);
      if (!*more) return;
      use(*rows);
      if (has_room()) continue;
      return lose(LossKind::kBudget, table + ": the rest of it");
    }
  }

  bool has_room() const {
    const model::Trace& trace = builder_.trace();
    const std::uint64_t held = 40 * (trace.device_events.size() + trace.host_events.size()) +
                               sizeof(model::DeviceDetail) * trace.details.size() +
                               32 * (events_.size() + stamps_.size());
    return held < limits_.memory_bytes;
  }

  std::uint32_t intern(std::string_view text) {
    return builder_.intern(text.substr(0, kLongestName));
  }

  // What the rows of events refer to.
  void read_shared() {
    constexpr auto kString = std::to_array<std::string_view>({"id", "string"});
    each("rocpd_string", kString,
         [&](const Rows& row) { strings_[row.integer(0)] = intern(row.text(1)); });
    constexpr auto kSymbol = std::to_array<std::string_view>({"id", "display_name", "kernel_name"});
    each("rocpd_info_kernel_symbol", kSymbol, [&](const Rows& row) {
      symbols_[row.integer(0)] = intern(row.text(row.text(1).empty() ? 2 : 1));
    });
    constexpr auto kStamp = std::to_array<std::string_view>({"id", "value"});
    each("rocpd_timestamp", kStamp,
         [&](const Rows& row) { stamps_[row.integer(0)] = row.integer(1); });
    constexpr auto kTrack =
        std::to_array<std::string_view>({"id", "pid", "tid", "agent_id", "stream_id"});
    each("rocpd_track", kTrack, [&](const Rows& row) {
      tracks_[row.integer(0)] = {row.integer(1), row.integer(2), row.integer(3), row.integer(4)};
    });
    constexpr auto kEvent =
        std::to_array<std::string_view>({"id", "stack_id", "category_id", "extdata"});
    each("rocpd_event", kEvent, [&](const Rows& row) {
      Event& event = events_[row.integer(0)];
      event.correlation = row.integer(1);
      event.category = name_of(strings_, row.integer(2));
      const std::string_view message = message_in(row.text(3));
      if (!message.empty()) event.message = intern(message);
    });
    constexpr auto kAgent = std::to_array<std::string_view>(
        {"id", "type", "type_index", "product_name", "model_name", "name"});
    each("rocpd_info_agent", kAgent, [&](const Rows& row) {
      int name = 3;
      while (name < 5 && row.text(name).empty()) ++name;
      agents_[row.integer(0)] = {row.text(1) == "GPU",
                                 row.is_null(2) ? row.integer(0) : row.integer(2),
                                 intern(row.text(name))};
    });
  }

  using Names = std::unordered_map<std::int64_t, std::uint32_t>;
  std::uint32_t name_of(const Names& names, std::int64_t id) {
    const auto found = names.find(id);
    return found == names.end() ? builder_.intern(kNoName) : found->second;
  }

  std::optional<std::int64_t> instant(const Rows& row, int direct, int shared) const {
    if (row.is_integer(direct)) return row.integer(direct);
    const auto found = stamps_.find(row.integer(shared));
    if (found == stamps_.end()) return std::nullopt;
    return found->second;
  }

  std::optional<Times> times_of(const Rows& row) {
    const auto from = instant(row, kStart, kStartId);
    const auto to = instant(row, kEnd, kEndId);
    if (!from || !to) {
      lose(LossKind::kNoTime, "an event without its times");
      return std::nullopt;
    }
    std::int64_t duration = 0;
    if (__builtin_sub_overflow(*to, *from, &duration) || Nanos(*from) < kEarliest ||
        Nanos(*to) > kLatest || Nanos(duration) > kLongest) {
      lose(LossKind::kTimeRange, fmt::format("from {} to {}", *from, *to));
      return std::nullopt;
    }
    if (duration < 0) lose(LossKind::kNegativeDuration, fmt::format("from {} to {}", *from, *to));
    return Times{Nanos(*from), Nanos(std::max<std::int64_t>(0, duration))};
  }

  Track track_of(const Rows& row) const {
    const auto found = tracks_.find(row.integer(kTrackId));
    if (found != tracks_.end()) return found->second;
    return {row.integer(kPid), row.integer(kTid), row.integer(kAgentId), row.integer(kStreamId)};
  }

  Event event_of(const Rows& row) const {
    const auto found = events_.find(row.integer(kEventId));
    return found == events_.end() ? Event{} : found->second;
  }

  std::uint32_t correlation_of(const Event& event) {
    return event.correlation > 0
               ? builder_.correlation(static_cast<std::uint64_t>(event.correlation))
               : 0;
  }

  // Correlations are unique within a process.
  std::uint32_t stream_of(const Track& track, std::int64_t agent) {
    const auto found = agents_.find(agent);
    const std::uint32_t device =
        builder_.device(source_, found == agents_.end() ? agent : found->second.index);
    if (found != agents_.end()) builder_.trace().devices[device].name = found->second.name;
    return builder_.stream(device, builder_.process(source_, track.process), track.stream);
  }

  void kernel(const Rows& row) {
    const auto times = times_of(row);
    if (!times) return;
    const Track track = track_of(row);
    model::DeviceEvent event{.start = times->start, .duration = times->duration};
    event.name = name_of(symbols_, row.integer(kKernelId));
    event.stream = stream_of(track, track.agent);
    event.correlation = correlation_of(event_of(row));
    builder_.trace().device_events.push_back(event);
  }

  void copy(const Rows& row) {
    const auto times = times_of(row);
    if (!times) return;
    const auto is_gpu = [&](std::int64_t agent) {
      const auto found = agents_.find(agent);
      return found != agents_.end() && found->second.is_gpu;
    };
    const std::int64_t from = row.integer(kSource);
    const std::int64_t to = row.integer(kTarget);
    model::DeviceEvent event{.start = times->start, .duration = times->duration};
    event.kind = model::DeviceKind::kCopy;
    event.copy = is_gpu(from) && is_gpu(to)
                     ? (from == to ? CopyKind::kDeviceToDevice : CopyKind::kPeerToPeer)
                 : is_gpu(to)   ? CopyKind::kHostToDevice
                 : is_gpu(from) ? CopyKind::kDeviceToHost
                                : CopyKind::kHostToHost;
    event.name = name_of(strings_, row.integer(kNameId));
    event.stream = stream_of(track_of(row), is_gpu(to) ? to : from);
    event.correlation = correlation_of(event_of(row));
    if (row.integer(kSize) > 0) {
      model::DeviceDetail detail;
      detail.bytes = static_cast<std::uint64_t>(row.integer(kSize));
      builder_.trace().details.push_back(detail);
      event.detail = static_cast<std::uint32_t>(builder_.trace().details.size() - 1);
    }
    builder_.trace().device_events.push_back(event);
  }

  void region(const Rows& row) {
    const auto times = times_of(row);
    if (!times) return;
    const Track track = track_of(row);
    const Event of = event_of(row);
    model::HostEvent event{.start = times->start, .duration = times->duration};
    event.kind = kind_of(builder_.trace().names[of.category]);
    event.name = of.message != 0 ? of.message : name_of(strings_, row.integer(kNameId));
    event.thread = builder_.thread(builder_.process(source_, track.process), track.thread);
    if (event.kind != HostKind::kAnnotation) event.correlation = correlation_of(of);
    builder_.trace().host_events.push_back(event);
  }

  Database& database_;
  const Limits& limits_;
  std::uint32_t source_;
  std::string suffix_;  // "_0000...": a uuid.
  model::TraceBuilder& builder_;
  Names strings_;
  Names symbols_;
  std::unordered_map<std::int64_t, std::int64_t> stamps_;
  std::unordered_map<std::int64_t, Track> tracks_;
  std::unordered_map<std::int64_t, Event> events_;
  std::unordered_map<std::int64_t, Agent> agents_;
};

}  // namespace

bool claims(std::string_view head) {
  // The first tables; that of kernels may come behind the first 64 KiB.
  return head.starts_with(nsys::kMagic) &&
         (contains(head, "rocpd_info_") || contains(head, kKernels));
}

Result<> read(const Input& input, const Limits& limits, model::TraceBuilder& builder) {
  Database database = TRY(Database::open(input, limits));
  model::TraceSource source;
  source.file = input.name;
  source.format = "rocpd";
  source.bytes = database.bytes();
  source.clock = model::Clock::kBoot;
  const std::uint32_t number = builder.source(std::move(source));
  const std::size_t before =
      builder.trace().device_events.size() + builder.trace().host_events.size();
  for (const std::string& table : database.names_like(std::string(kKernels))) {
    Part(database, limits, number, table.substr(kKernels.size()), builder).read();
  }
  if (builder.trace().device_events.size() + builder.trace().host_events.size() == before) {
    return bad_input("has no kernels, copies and calls; record some: rocprofv3 --sys-trace");
  }
  return Ok{};
}

}  // namespace amdahl::trace::rocpd
