// fleet_cache.h: answers about the fleet from a cached scan that is renewed in the background.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "app/config.h"
#include "app/scan.h"
#include "base/json.h"
#include "base/result.h"
#include "base/units.h"
#include "http/message.h"

namespace amdahl::http {

// Not thread-safe; the first answer waits for the first scan.
class FleetCache {
 public:
  // `stopped`: cancels a running scan.
  FleetCache(app::Config config, std::function<bool()> stopped)
      : config_{std::move(config)}, stopped_{std::move(stopped)} {}

  // GET /api/v1/fleet and /api/v1/jobs/{id}. The Age header says how old the scan is.
  Response fleet(const Request& request);
  Response job(const std::string& id);
  Response own(const std::string& by, const std::string& name);  // GET /api/v1/fleet/{by}/{name}.

 private:
  Result<> scan_if_old();
  Result<Json> fleet_document(const Request& request);

  app::Config config_;
  std::function<bool()> stopped_;
  std::optional<app::FleetAnswer> kept_{};
  Nanos scanned_{};
  std::map<std::string, Json> drawn_{};  // Documents of the cached scan, by request.
};

}  // namespace amdahl::http
