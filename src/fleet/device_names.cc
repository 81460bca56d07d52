#include "fleet/device_names.h"

#include <algorithm>

#include "base/text.h"

namespace amdahl::fleet {
namespace {

// "00000000:18:00.0" and "0000:18:00.0" are the same address.
bool is_bus(std::string_view text) {
  return text.size() >= 7 && text.size() <= 16 && text.find(':') != text.npos &&
         text.find('.') != text.npos &&
         text.find_first_not_of("0123456789abcdefABCDEF:.") == text.npos;
}

std::string bus_key(std::string_view host, std::string_view bus) {
  const std::size_t domain = bus.find(':');
  if (domain != bus.npos && bus.find(':', domain + 1) != bus.npos) {
    bus.remove_prefix(std::min(domain, bus.find_first_not_of('0')));
    if (bus.starts_with(':')) bus.remove_prefix(1);  // Of the domain 0, as without one.
  }
  return std::string(host) + '\n' + lower(bus);
}

bool fits(const std::string& a, const std::string& b) { return a.empty() || b.empty() || a == b; }

}  // namespace

bool is_device_name(std::string_view text) {
  return text.starts_with("GPU-") || text.starts_with("MIG-") || is_bus(text);
}

bool DeviceNames::learn(const Device& device) {
  const Place place{std::string(device.host), std::string(device.accelerator),
                    std::string(device.slice), std::string(device.profile),
                    std::string(device.likely)};
  bool is_good = true;
  if (!device.uuid.empty()) is_good = learn(std::string(device.uuid), place);
  if (!device.bus.empty()) is_good = learn(bus_key(device.host, device.bus), place) && is_good;
  return is_good;
}

bool DeviceNames::learn(std::string key, const Place& place) {
  const auto [at, is_new] = places_.emplace(std::move(key), place);
  if (is_new) {
    ++version_;
    return true;
  }
  Place& known = at->second;
  if (!fits(known.host, place.host) || known.accelerator != place.accelerator) return false;
  Place both = known;
  if (both.host.empty()) both.host = place.host;
  if (both.slice.empty()) both.slice = place.slice;
  if (both.profile.empty()) both.profile = place.profile;
  if (both.likely.empty()) both.likely = place.likely;
  if (both == known) return true;
  known = std::move(both);
  ++version_;
  return true;
}

const DeviceNames::Place* DeviceNames::find(std::string_view host, std::string_view name) const {
  if (places_.empty() || name.empty()) return nullptr;
  auto at = places_.find(std::string(name));
  if (at == places_.end() && is_bus(name)) {
    at = places_.find(bus_key(host, name));
    if (at == places_.end()) at = places_.find(bus_key("", name));
  }
  return at == places_.end() ? nullptr : &at->second;
}

}  // namespace amdahl::fleet
