// device_names.h: maps UUIDs and PCI addresses to accelerators.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "fleet/intake.h"

namespace amdahl::fleet {

// Whether it is a name and not an index: "GPU-5d5ba0d6-…", "MIG-…", "00000000:18:00.0".
bool is_device_name(std::string_view text);

class DeviceNames {
 public:
  struct Place {
    std::string host;         // Empty: the host that uses the name.
    std::string accelerator;  // Its index.
    std::string slice;
    std::string profile;
    std::string likely;  // Its probable host, used if neither this nor the user of the name says.
    friend bool operator==(const Place&, const Place&) = default;
  };

  // False if a name already belongs to another device; the first one stays. Missing host, slice
  // and profile are filled in by later records.
  bool learn(const Device& device);

  // The accelerator with this name, or null. A PCI address is specific to `host`; a UUID is
  // global.
  const Place* find(std::string_view host, std::string_view name) const;

  std::size_t size() const { return places_.size(); }
  std::size_t version() const { return version_; }  // Increases with every new fact.

 private:
  bool learn(std::string key, const Place& place);

  std::unordered_map<std::string, Place> places_;
  std::size_t version_ = 0;
};

}  // namespace amdahl::fleet
