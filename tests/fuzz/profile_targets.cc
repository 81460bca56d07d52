#include "profile_targets.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/check.h"
#include "code/finding.h"
#include "model/trace_builder.h"
#include "trace/reader.h"

namespace amdahl::fuzz {
namespace {

// A position of a row that exists, or none.
bool is_of(std::uint32_t position, std::size_t rows) {
  return position == model::kNone || position < rows;
}

void check(const model::Trace& trace) {
  for (const model::DeviceEvent& event : trace.device_events) {
    CHECK(event.duration >= Nanos{});
    CHECK(event.stream < trace.streams.size() && event.name < trace.names.size());
    CHECK(is_of(event.launch, trace.host_events.size()));
    CHECK(is_of(event.detail, trace.details.size()));
  }
  for (const model::HostEvent& event : trace.host_events) {
    CHECK(event.duration >= Nanos{});
    CHECK(event.name < trace.names.size() && is_of(event.thread, trace.threads.size()));
    CHECK(is_of(event.parent, trace.host_events.size()));
    CHECK(is_of(event.stack, trace.stacks.size()));
  }
  for (const model::SyncEvent& sync : trace.syncs) {
    CHECK(sync.duration >= Nanos{});
    CHECK(is_of(sync.stream, trace.streams.size()));
    CHECK(is_of(sync.awaited_stream, trace.streams.size()));
  }
  for (const model::KernelMetric& metric : trace.kernel_metrics) {
    CHECK(std::isfinite(metric.value) && metric.metric < trace.names.size());
  }
  for (const model::KernelAdvice& advice : trace.kernel_advice) {
    CHECK(advice.speedup_percent >= 0 && advice.speedup_percent <= 100);
  }
}

struct Rows {
  bool done = false;
  std::vector<std::size_t> counts;
  friend bool operator==(const Rows&, const Rows&) = default;
};

Rows rows_of(const trace::Reader& reader, std::string_view bytes, std::size_t piece) {
  std::size_t at = 0;
  trace::Input input;
  input.name = "fuzz";
  input.bytes = bytes.size();
  input.next = [&](std::span<char> room) -> Result<std::size_t> {
    const std::size_t count = std::min({room.size(), bytes.size() - at, piece});
    std::memcpy(room.data(), bytes.data() + at, count);
    at += count;
    return count;
  };
  model::TraceBuilder builder;
  Rows rows;
  constexpr trace::Limits kLimits{.memory_bytes = std::uint64_t{64} << 20U, .threads = 1};
  rows.done = static_cast<bool>(reader.read(input, kLimits, builder));
  const model::Trace trace = std::move(builder).finish();
  check(trace);
  rows.counts = {trace.device_events.size(), trace.host_events.size(), trace.syncs.size(),
                 trace.kernel_metrics.size(), trace.kernel_advice.size()};
  return rows;
}

void read_source(const char* path, std::string_view bytes) {
  const std::vector<code::Source> sources = {{path, std::string(bytes)}};
  const auto lines = 1 + std::count(bytes.begin(), bytes.end(), '\n');
  for (const code::Finding& finding : code::analyse(sources).findings) {
    CHECK(finding.line >= 1 && finding.line <= lines && finding.end_line >= finding.line);
    CHECK(!finding.rule.empty() && !finding.explains.empty());
    CHECK(finding.patch.empty() || finding.patch.find("\n@@ -") != std::string::npos);
  }
}

}  // namespace

void read_trace(std::string_view reader, std::string_view bytes) {
  const auto row = trace::reader_named(reader);
  CHECK(row);
  (void)row->claims(bytes.substr(0, 65536));
  const Rows whole = rows_of(*row, bytes, bytes.size() + 1);
  CHECK(whole == rows_of(*row, bytes, 61));
}

void read_code(std::string_view bytes) {
  read_source("a.py", bytes);
  read_source("a.cc", bytes);
}

}  // namespace amdahl::fuzz
