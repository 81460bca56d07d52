// import.h: converts an export's tables into rows of a trace, one function per table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "model/trace_builder.h"
#include "trace/nsys/database.h"
#include "trace/reader.h"

namespace amdahl::trace::nsys {

// State shared while one file is read. A read_* fails only if the file cannot be read any further;
// the rest of a broken table is counted as lost.
class Import {
 public:
  Import(Database& database, const Limits& limits, model::TraceBuilder& builder)
      : database_(database), limits_(limits), builder_(builder) {}

  void read_session(const Input& input);  // First: creates the source and the time base.
  void read_kernels();
  void read_graphs();
  void read_copies();
  void read_sets();
  void read_syncs();
  void read_calls();  // Runtime and driver calls, with stacks.
  void read_ranges();
  void read_system_calls();
  void read_overheads();
  void read_names();  // Last: names the processes, threads and devices seen.

  bool found_any() const;
  std::uint32_t source() const { return source_; }

 private:
  struct Times {
    Nanos start{};
    Nanos duration{};
  };
  struct Where {  // For device events.
    std::uint32_t stream = model::kNone;
    std::uint32_t correlation = 0;
  };

  // Calls `each` for every row until it returns false; counts a broken table.
  template <class Each>
  void for_each(const char* table, std::span<const std::string_view> columns, Each each);

  // From columns `start` and `start` + 1; nothing, and counted, if they are not a valid time.
  std::optional<Times> times_of(const Rows& rows, const char* table, int start);
  std::optional<Where> where_of(const Rows& rows, const char* table, int device);
  std::uint32_t name_of(std::int64_t id);  // Id in StringIds.
  std::uint32_t intern(std::string_view text);
  std::uint32_t detail_of(std::int64_t bytes, std::int64_t graph_node);
  std::uint32_t process_of(std::int64_t global);
  std::uint32_t thread_of(std::int64_t global);
  std::int64_t device_id(std::int64_t pid, std::int64_t ordinal) const;
  bool has_room(const char* table);
  void lose(model::LossKind kind, std::string_view example);
  void keep_host(const Rows& rows, const char* table, std::uint32_t name, model::HostKind kind,
                 std::int64_t thread, std::uint32_t correlation, std::uint32_t stack);
  void read_device_map();
  void read_stacks();
  void read_records();
  void read_host_name();
  void read_thread_names();
  void read_gpus();

  Database& database_;
  const Limits& limits_;
  model::TraceBuilder& builder_;
  std::uint32_t source_ = model::kNone;
  std::int64_t base_ = 0;
  std::unordered_map<std::int64_t, std::uint32_t> names_;
  std::unordered_map<std::int64_t, std::uint32_t> stacks_;      // By callchain.
  std::unordered_map<std::uint64_t, std::int64_t> device_map_;  // Process and ordinal to device.
  struct Record {
    std::int64_t correlation = 0;
    std::uint32_t stream = model::kNone;
  };
  std::unordered_map<std::uint64_t, std::vector<Record>> records_;  // By process and event.
  bool names_broken_ = false;
};

// The pid or tid in a global id of Nsight.
constexpr std::int64_t pid_of(std::int64_t global) { return (global >> 24) & 0xFFFFFF; }
constexpr std::int64_t tid_of(std::int64_t global) { return global & 0xFFFFFF; }

}  // namespace amdahl::trace::nsys
