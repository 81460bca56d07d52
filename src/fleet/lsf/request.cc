#include "fleet/lsf/request.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace amdahl::fleet::lsf {
namespace {

// The number that `text` begins with; 0 if it is none.
double number_at(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  return to_number<double>(text.substr(0, end)).value_or(0);
}

}  // namespace

GpuRequest gpu_request(std::string_view text) {
  GpuRequest request;
  std::string_view list = text;
  std::string_view separators = ":";
  if (const std::size_t usage = text.find("rusage["); usage != text.npos) {
    list = text.substr(usage + 7);
    list = list.substr(0, list.find(']'));
    separators = ",:";
  }
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(separators), list.size());
    const std::string_view part = trim(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    const std::size_t equals = part.find('=');
    if (equals == part.npos) continue;
    const std::string_view key = part.substr(0, equals);
    const std::string_view value = part.substr(equals + 1);
    constexpr auto kCounts =
        std::to_array<std::string_view>({"num", "ngpus_physical", "ngpus_excl_p", "ngpus", "gpu"});
    if (request.count == 0 && std::ranges::find(kCounts, key) != kCounts.end()) {
      request.count = number_at(value);
      request.each_task = value.ends_with("/task");
    }
    if (key == "gmodel") request.kind = value;
  }
  return request;
}

void Slots::add(std::string_view place) {
  const std::size_t star = place.find('*');
  double slots = 1;
  if (star != place.npos) {
    slots = number_at(place);
    place.remove_prefix(star + 1);
  }
  if (place.empty()) return;
  count += slots;
  const std::string host(place);
  if (std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(host);
}

double gpus_of(const GpuRequest& request, const Slots& slots) {
  const double hosts = static_cast<double>(std::max<std::size_t>(slots.hosts.size(), 1));
  const double count = request.count * (request.each_task ? std::max(slots.count, 1.0) : hosts);
  return count <= 1e6 ? count : 0;
}

}  // namespace amdahl::fleet::lsf
