#include "profile/hta_rows.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/text.h"

namespace amdahl::profile {
namespace {

using model::DeviceEvent;
using model::DeviceKind;
using model::HostEvent;

bool starts(std::string_view text, std::string_view word) { return text.starts_with(word); }
// CommunicateKernelGroupingPattern, MemoryKernelGroupingPattern and ComputeKernelGroupingPattern.
HtaKind hta_kind_of(std::string_view name) {
  for (const char* word : {"nccl", "hip", "hccl"}) {
    if (starts(name, word)) return HtaKind::kCommunication;
  }
  if (contains(name, "ncclKernel")) return HtaKind::kCommunication;
  for (const char* word : {"Memcpy", "Memset", "dma"}) {
    if (starts(name, word)) return HtaKind::kMemory;
  }
  for (const char* word : {"Memcpy", "Memset", "dma", "Sync"}) {
    if (contains(name, word)) return HtaKind::kOther;
  }
  for (const char* word : {"Stream Wait Event", "runFunction", "job_exe", "packet", "pe_exe",
                           "cpum_exe_subgraph", "collective_subgraph_execution"}) {
    if (starts(name, word)) return HtaKind::kOther;
  }
  if (starts(name, "cuda") && contains(name, "LaunchKernel")) return HtaKind::kOther;
  return HtaKind::kComputation;
}

std::string_view sync_name(model::SyncKind kind) {
  switch (kind) {
    case model::SyncKind::kDevice:
      return "Context Sync";
    case model::SyncKind::kStream:
      return "Stream Sync";
    case model::SyncKind::kEvent:
      return "Event Sync";
    case model::SyncKind::kStreamWait:
      return "Stream Wait Event";
    case model::SyncKind::kUnknown:
      return "Unknown Sync";
  }
  return "Unknown Sync";
}

// Whether HTA takes a row for one of a device.
bool on_device(const HtaRow& row) {
  return (row.stream >= 0 && row.correlation >= 0) || row.name == "Event Sync" ||
         row.name == "Context Sync";
}

class NameTable {
 public:
  NameTable(const model::Trace& trace, std::uint32_t source, const HtaOptions& options)
      : trace_(trace), source_(source), base_(trace.sources[source].base) {
    rounds_ = options.round && has_nanoseconds();
    for (const DeviceEvent& event : trace.device_events) add(event);
    for (const model::SyncEvent& event : trace.syncs) add(event);
    for (const HostEvent& event : trace.host_events) add(event);
    first_ = trace.sources[source].first_event == Nanos{}
                 ? std::nullopt
                 : std::optional(time_of(trace.sources[source].first_event, Nanos{}).first);
    align();
    link();
  }

  std::vector<HtaRow> filtered() && {
    std::set<std::string_view> steps;
    std::optional<double> last;
    for (const HtaRow& row : host_) {
      if (!starts(row.name, "ProfilerStep#")) continue;
      steps.insert(row.name);
      last = last ? std::max(*last, row.ts) : row.ts;
    }
    if (steps.size() > 1) drop_last_step(*last);
    keep_known_launches();
    device_.insert(device_.end(), host_.begin(), host_.end());
    return std::move(device_);
  }

 private:
  bool has_nanoseconds() const {
    const auto fine = [&](Nanos start) { return (start - base_).count() % 1000 != 0; };
    for (const HostEvent& event : trace_.host_events) {
      if (of_source(event) && fine(event.start)) return true;
    }
    for (const DeviceEvent& event : trace_.device_events) {
      if (of_source(event) && fine(event.start)) return true;
    }
    return false;
  }

  bool of_source(const HostEvent& event) const {
    return trace_.processes[trace_.threads[event.thread].process].source == source_;
  }
  bool of_source(const DeviceEvent& event) const {
    return trace_.devices[trace_.device_of(event)].source == source_;
  }

  // Start and duration as HTA has them, from the nearest doubles to what the file says.
  std::pair<double, double> time_of(Nanos start, Nanos duration) const {
    const auto micros = [](Nanos time) {
      return static_cast<double>(static_cast<long double>(time.count()) / 1000);
    };
    const double ts = micros(start - base_);
    const double dur = micros(duration);
    if (!rounds_) return {ts, dur};
    return {std::ceil(ts), std::floor(ts + dur) - std::ceil(ts)};
  }

  HtaRow row_of(Nanos start, Nanos duration, std::string_view name, std::uint32_t correlation) {
    HtaRow row;
    std::tie(row.ts, row.dur) = time_of(start, duration);
    row.name = name;
    const auto [found, added] = kinds_.try_emplace(name, HtaKind::kOther);
    if (added) found->second = hta_kind_of(name);
    row.kind = found->second;
    if (correlation != 0) row.correlation = correlation;
    return row;
  }

  void put(const HtaRow& row) { (on_device(row) ? device_ : host_).push_back(row); }

  void add(const DeviceEvent& event) {
    if (!of_source(event)) return;
    HtaRow row = row_of(event.start, event.duration, trace_.name(event), event.correlation);
    row.works = event.kind != DeviceKind::kAnnotation && event.kind != DeviceKind::kSync;
    if (row.works) row.stream = trace_.streams[event.stream].id;
    put(row);
  }

  void add(const model::SyncEvent& event) {
    const model::TraceStream& stream = trace_.streams[event.stream];
    if (trace_.devices[stream.device].source != source_) return;
    HtaRow row = row_of(event.start, event.duration, sync_name(event.kind), event.correlation);
    row.stream = stream.id;
    put(row);
  }

  void add(const HostEvent& event) {
    if (!of_source(event)) return;
    put(row_of(event.start, event.duration, trace_.name(event), event.correlation));
  }

  // _align_all_ranks(): small numbers have more digits behind the point.
  void align() {
    double first = std::numeric_limits<double>::infinity();
    for (const HtaRow& row : host_) first = std::min(first, row.ts);
    for (const HtaRow& row : device_) first = std::min(first, row.ts);
    for (HtaRow& row : host_) row.ts -= first;
    for (HtaRow& row : device_) row.ts -= first;
    if (first_) *first_ -= first;
  }

  // transform_correlation_to_index().
  void link() {
    std::unordered_map<std::int64_t, double> launches;
    std::set<std::int64_t> worked;
    for (const HtaRow& row : host_) {
      if (row.correlation >= 0) launches[row.correlation] = row.ts;
    }
    for (HtaRow& row : device_) {
      const auto found = launches.find(row.correlation);
      row.has_peer = found != launches.end();
      row.launched = row.has_peer ? std::optional(found->second) : first_;
      worked.insert(row.correlation);
    }
    for (HtaRow& row : host_)
      row.has_peer = row.correlation >= 0 && worked.contains(row.correlation);
  }

  // _filter_irrelevant_gpu_kernels(): a device's row stays as often as rows of the host launch it.
  void drop_last_step(double last) {
    std::erase_if(host_, [&](const HtaRow& row) { return row.ts >= last; });
    std::unordered_map<std::int64_t, std::size_t> launches;
    for (const HtaRow& row : host_) ++launches[row.correlation];
    std::vector<HtaRow> kept;
    for (const HtaRow& row : device_) {
      const auto found = launches.find(row.correlation);
      if (found != launches.end()) kept.insert(kept.end(), found->second, row);
    }
    device_ = std::move(kept);
  }

  // The first event stands in for a launch only while it is in the table itself.
  void keep_known_launches() {
    bool has_first = false;
    for (const HtaRow& row : host_) has_first |= first_ && row.ts == *first_;
    for (const HtaRow& row : device_) has_first |= first_ && row.ts == *first_;
    for (HtaRow& row : device_) {
      if (!row.has_peer && !has_first) row.launched.reset();
    }
  }

  const model::Trace& trace_;
  std::uint32_t source_;
  Nanos base_;
  bool rounds_ = false;
  std::optional<double> first_;
  std::map<std::string_view, HtaKind> kinds_;
  std::vector<HtaRow> host_;
  std::vector<HtaRow> device_;
};

}  // namespace

std::vector<HtaRow> hta_rows(const model::Trace& trace, std::uint32_t source,
                             const HtaOptions& options) {
  return NameTable(trace, source, options).filtered();
}

}  // namespace amdahl::profile
