#include "profile/bandwidth.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/text.h"
#include "profile/busy.h"
#include "profile/op_work.h"

namespace amdahl::profile {
namespace {

using model::DeviceEvent;
using model::kNone;

struct NamedNumber {
  std::string_view name;
  double value;
};

// Gigabytes a second, one way, by NVLink or xGMI; the vendors' figures halved. A longer name first.
constexpr auto kLinks = std::to_array<NamedNumber>({
    {"H100 PCIe", 300}, {"H100 NVL", 300}, {"H100", 450},   {"H200", 450},  {"H800", 200},
    {"H20", 450},       {"GB200", 900},    {"B200", 900},   {"B100", 900},  {"B300", 900},
    {"GH200", 450},     {"A100", 300},     {"A800", 200},   {"V100", 150},  {"P100", 80},
    {"MI300X", 448},    {"MI325X", 448},   {"MI355X", 538}, {"MI250", 350},
});

constexpr auto kElements = std::to_array<NamedNumber>({
    {"Double", 8},
    {"Long", 8},
    {"ComplexFloat", 8},
    {"Float", 4},
    {"Int", 4},
    {"Half", 2},
    {"BFloat16", 2},
    {"Short", 2},
    {"Byte", 1},
    {"Char", 1},
    {"Bool", 1},
});

// As the framework spells them: "_allgather_base", "reduce_scatter_tensor_coalesced".
std::string plain_name(std::string_view collective) {
  std::string name = lower(collective);
  std::erase(name, '_');
  return name;
}

// Both sides are told of; gathering counts what comes out.
bool grows(const std::string& name) { return contains(name, "allgather"); }

// Name, type, elements, ranks.
using Key = std::tuple<std::string_view, std::string_view, std::uint64_t, std::uint32_t>;

struct SpeedSum {
  std::vector<Nanos> transfers;
  Nanos time{};
  Nanos overlapped{};
  std::uint32_t device = kNone;  // Of the first.
};

// From when on a kernel could move anything: the arrival of the last rank, on its own clock.
std::vector<Nanos> arrivals(const Prepared& in, const Ranks& ranks) {
  std::vector<Nanos> from(in.trace.device_events.size(), Nanos::min());
  const auto shift = [&](const DeviceEvent& event) {
    const std::uint32_t source = in.trace.devices[in.trace.device_of(event)].source;
    return source < ranks.shifts.size() ? ranks.shifts[source] : Nanos{};
  };
  for (const Collective& group : ranks.joined) {
    Nanos last = Nanos::min();
    for (const std::uint32_t i : group.events) {
      const DeviceEvent& event = in.trace.device_events[i];
      last = std::max(last, event.start - shift(event));
    }
    for (const std::uint32_t i : group.events) from[i] = last + shift(in.trace.device_events[i]);
  }
  return from;
}

// What other kernels of each device compute, by device.
std::vector<std::vector<Interval>> computing(const Prepared& in) {
  std::vector<std::vector<Interval>> spans(in.trace.devices.size());
  for (const DeviceEvent& event : in.trace.device_events) {
    if (!keeps_busy(event) || in.names.device(event) != Why::kKernel) continue;
    spans[in.trace.device_of(event)].push_back({event.start, event.end()});
  }
  for (auto& one : spans) one = merged(std::move(one));
  return spans;
}

// From the kernel itself, or from the operator that launched it: older files say it there only.
CollectiveInputs inputs_of(const Prepared& in, const DeviceEvent& event) {
  if (event.detail != kNone) {
    const model::DeviceDetail& detail = in.trace.details[event.detail];
    if (detail.graph_node != 0 && detail.collective == 0) return {};
    if (detail.collective != 0) {
      return {in.trace.names[detail.collective], in.trace.names[detail.element_type],
              detail.elements, detail.group_size};
    }
  }
  return collective_around(in.trace, event.launch);
}

std::map<Key, SpeedSum> sums_of(const Prepared& in, const Ranks& ranks) {
  const std::vector<Nanos> from = arrivals(in, ranks);
  const std::vector<std::vector<Interval>> compute = computing(in);
  std::map<Key, SpeedSum> sums;
  for (std::uint32_t i = 0; i < in.trace.device_events.size(); ++i) {
    const DeviceEvent& event = in.trace.device_events[i];
    if (!keeps_busy(event) || !in.names.is_communication(event)) continue;
    const CollectiveInputs of = inputs_of(in, event);
    if (of.name.empty() || of.elements == 0 || of.group_size < 2) continue;
    SpeedSum& sum = sums[{of.name, of.element_type, of.elements, of.group_size}];
    const std::uint32_t device = in.trace.device_of(event);
    if (sum.device == kNone) sum.device = device;
    sum.time += event.duration;
    sum.overlapped += within(compute[device], {event.start, event.end()});
    sum.transfers.push_back(event.end() - std::max(event.start, std::min(from[i], event.end())));
  }
  return sums;
}

}  // namespace

std::uint64_t element_bytes(std::string_view type) {
  if (type.starts_with("Float8")) return 1;
  const auto row = std::ranges::find(kElements, type, &NamedNumber::name);
  return row == kElements.end() ? 0 : static_cast<std::uint64_t>(row->value);
}

double link_peak(std::string_view device) {
  constexpr double kGiga = 1e9;
  const auto row = std::ranges::find_if(
      kLinks, [&](const NamedNumber& one) { return contains(device, one.name); });
  return row == kLinks.end() ? 0 : row->value * kGiga;
}

double bus_factor(std::string_view collective, std::uint32_t ranks) {
  if (ranks < 2) return 0;
  const std::string name = plain_name(collective);
  const double others = (ranks - 1.0) / ranks;
  if (contains(name, "allreduce")) return 2 * others;
  for (const std::string_view part : {"allgather", "reducescatter", "alltoall"}) {
    if (contains(name, part)) return others;
  }
  for (const std::string_view part : {"broadcast", "reduce", "send", "recv"}) {
    if (contains(name, part)) return 1;
  }
  return 0;
}

std::vector<CollectiveSpeed> collective_speeds(const Prepared& prepared, const Ranks& ranks) {
  std::vector<CollectiveSpeed> speeds;
  const model::Trace& trace = prepared.trace;
  const bool has_any = std::ranges::any_of(
      trace.details, [](const model::DeviceDetail& detail) { return detail.collective != 0; });
  const bool has_symmetric =
      std::ranges::any_of(trace.host_events, [&](const model::HostEvent& event) {
        return event.inputs != 0 && trace.name(event).starts_with("symm_mem::");
      });
  if (!has_any && !has_symmetric && trace.names.find("record_param_comms") == 0) return speeds;
  for (auto& [key, sum] : sums_of(prepared, ranks)) {
    const auto& [collective, type, elements, size] = key;
    CollectiveSpeed speed;
    speed.name = std::string(collective);
    speed.element_type = std::string(type);
    speed.ranks = size;
    speed.times = sum.transfers.size();
    speed.time = sum.time;
    speed.transfer = median(sum.transfers);
    speed.bytes = elements * element_bytes(speed.element_type);
    if (grows(plain_name(speed.name))) speed.bytes *= size;
    if (speed.transfer > Nanos{}) {
      speed.algorithm = static_cast<double>(speed.bytes) / to_seconds(speed.transfer);
      speed.bus = speed.algorithm * bus_factor(speed.name, size);
    }
    speed.peak = link_peak(trace.names[trace.devices[sum.device].name]);
    if (sum.time > Nanos{}) speed.overlapped = to_seconds(sum.overlapped) / to_seconds(sum.time);
    speeds.push_back(std::move(speed));
  }
  std::ranges::stable_sort(speeds, std::ranges::greater{}, &CollectiveSpeed::time);
  return speeds;
}

}  // namespace amdahl::profile
