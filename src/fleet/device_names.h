// device_names.h: which accelerator a UUID or a PCI address means.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "fleet/intake.h"

namespace amdahl::fleet {

// Whether this is no index but a name: "GPU-5d5ba0d6-…", "MIG-…", "00000000:18:00.0".
bool is_device_name(std::string_view text);

class DeviceNames {
 public:
  struct Place {
    std::string host;         // Empty: whichever host uses the name.
    std::string accelerator;  // Its index.
    std::string slice;
    std::string profile;
    std::string likely;  // Its host, where neither this nor who uses the name says it.
    friend bool operator==(const Place&, const Place&) = default;
  };

  // False if a name of it is taken by another device; the first that was told stays. What comes
  // without a host, a slice or a profile is completed by what has it.
  bool learn(const Device& device);

  // The accelerator of this name, or null. A PCI address means one of `host`, a UUID the same
  // everywhere.
  const Place* find(std::string_view host, std::string_view name) const;

  std::size_t size() const { return places_.size(); }
  std::size_t version() const { return version_; }  // Grows with all that is learnt.

 private:
  bool learn(std::string key, const Place& place);

  std::unordered_map<std::string, Place> places_;
  std::size_t version_ = 0;
};

}  // namespace amdahl::fleet
