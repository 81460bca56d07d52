// fleet_cache.h: answers about the fleet from a kept scan. A page never scans: it is renewed
// beside.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "app/config.h"
#include "app/scan.h"
#include "base/json.h"
#include "base/result.h"
#include "base/units.h"
#include "http/message.h"
#include "http/routes.h"

namespace amdahl::http {

// Not thread-safe. Only the first answer of a window waits, for its first scan; later ones are from
// the last scan while the next one runs.
class FleetCache {
 public:
  // `stopped`: cancels a running scan.
  FleetCache(app::Config config, std::function<bool()> stopped)
      : config_{std::move(config)}, stopped_{std::move(stopped)} {}

  // For the routes of the kind kFleet. The Age header says how old the scan is.
  Response answer(const Found& found, const Request& request);

 private:
  // A scan with what pages are made of. On the heap: `ranking` refers to `answer`.
  struct Kept {
    app::FleetAnswer answer;
    std::unique_ptr<scan::Ranking> ranking{};
    Nanos at{};
    std::string ranked_as{};                // Order and rows of the answer's report.
    std::map<std::string, Json> drawn{};    // Documents, by request.
    std::map<std::string, Json> courses{};  // Anatomies whose timelines were read later, by job.
  };
  using Scan = std::future<Result<std::unique_ptr<Kept>>>;

  // The scans of one window: of what is configured, or of the last days.
  struct Window {
    std::optional<Nanos> length{};  // Nothing: as configured.
    std::unique_ptr<Kept> kept{};
    std::string trouble{};           // Why it could not be renewed.
    Nanos tried{};                   // When it was last begun to be renewed.
    Nanos asked{};                   // When a page last asked for it.
    std::optional<Error> failed{};   // Why the first scan failed,
    Nanos again{};                   // and when it is tried again.
    Scan coming{};
  };

  Scan begin_scan(const std::optional<Nanos>& length) const;
  // kNotFound if there is nothing to scan.
  Result<> have_scan(Window& window);
  // That of the request's parameter `window`, before it was scanned.
  Result<Window*> window_of(const Request& request);
  Window& whole() { return windows_[""]; }
  void take_course(Kept& kept);
  Result<Json> fleet(const Request& request);
  Result<Json> rows(const Request& request);
  Result<Json> trends(const Request& request);
  Result<Json> own(const std::string& by, const std::string& name);
  Result<Json> job(const std::string& id);
  Result<Json> fleet_job(const std::string& id);

  app::Config config_;
  std::function<bool()> stopped_;
  std::string reading_{};  // The job whose timeline is being read.
  // Last, so that their scans end first: they use what is above.
  std::map<std::string, Window> windows_{};  // By their lengths as asked for.
  std::future<Result<Json>> course_{};
};

}  // namespace amdahl::http
