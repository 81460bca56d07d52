#include "http/fleet_cache.h"

#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/fleet.h"
#include "app/door.h"
#include "app/fleet.h"
#include "base/text.h"
#include "http/routes.h"

namespace amdahl::http {
namespace {

constexpr Nanos kRenewAfter = std::chrono::minutes(5);
constexpr std::size_t kMostDrawn = 64;
constexpr std::int64_t kMostRows = 1000;
constexpr std::int64_t kRows = 20;  // As `amdahl scan` shows.

template <class Value>
Result<Value> choice_of(const Request& request, const std::string& name, Value by_default,
                        std::optional<Value> (*named)(std::string_view)) {
  const auto found = request.query.find(name);
  if (found == request.query.end()) return by_default;
  if (const auto value = named(found->second)) return *value;
  return bad_input(
      fmt::format("{} cannot be '{}'; see: amdahl scan --help", name, clip(found->second, 40)));
}

}  // namespace

Result<> FleetCache::scan_if_old() {
  if (kept_ && app::monotonic_now() - scanned_ < kRenewAfter) return Ok{};
  app::ScanOptions options;
  options.read.stop = stopped_;
  kept_ = TRY(app::scan_fleet(config_, options));
  scanned_ = app::monotonic_now();
  drawn_.clear();
  return Ok{};
}

Result<Json> FleetCache::fleet_document(const Request& request) {
  const scan::By by = TRY(choice_of(request, "by", scan::By::kFamily, scan::cut_named));
  const scan::Order order =
      TRY(choice_of(request, "order", scan::Order::kRecoverable, scan::order_named));
  const std::int64_t top = TRY(number_of(request, "top", kRows));
  if (top < 1 || top > kMostRows) {
    return bad_input(fmt::format("top must be from 1 to {}, not {}", kMostRows, top));
  }
  if (const auto scanned = scan_if_old(); !scanned) {
    if (scanned.error().kind == Error::Kind::kNotFound) return api::empty_fleet();
    return scanned.error();
  }
  const std::string key = fmt::format("{} {} {}", scan::name(by), scan::name(order), top);
  const auto known = drawn_.find(key);
  if (known != drawn_.end()) return known->second;
  if (drawn_.size() >= kMostDrawn) drawn_.clear();
  app::ScanOptions options;
  options.report.order = order;
  options.report.rows = static_cast<std::size_t>(top);
  TRY(app::rank_fleet(config_, options, *kept_));
  return drawn_.emplace(key, api::fleet(*kept_, by)).first->second;
}

Response FleetCache::fleet(const Request& request) {
  const auto document = fleet_document(request);
  if (!document) return problem(document.error());
  Response response = json_response(*document);
  const Nanos age = kept_ ? app::monotonic_now() - scanned_ : Nanos{};
  response.headers.emplace_back("Age", fmt::format("{:.0f}", to_seconds(age)));
  return response;
}

Response FleetCache::own(const std::string& by, const std::string& name) {
  const auto cut = scan::cut_named(by);
  if (!cut) return problem(404, "not found", "jobs are looked up by user or account");
  if (const auto scanned = scan_if_old(); !scanned) return problem(scanned.error());
  const auto found = app::own_waste(*kept_, *cut, name, kRows);
  return found ? json_response(api::own_waste(*found, *kept_)) : problem(found.error());
}

// A path would be a file of the server's machine: only names of jobs are taken.
Response FleetCache::job(const std::string& id) {
  if (id.empty() || id.find('/') != std::string::npos || id.ends_with(".json")) {
    return problem(404, "not found", "no job has this name");
  }
  const auto here = app::job_anatomy(config_, id);
  if (here) return json_response(api::anatomy(*here));
  if (here.error().kind != Error::Kind::kNotFound || config_.scan_sources.empty()) {
    return problem(here.error());
  }
  // What a scan keeps has no timelines of single jobs: they are read for the one that is asked for.
  app::ScanOptions options;
  options.read.stop = stopped_;
  options.read.timelines_of = {id};
  const auto read = app::scan_fleet(config_, options);
  if (!read) return problem(read.error());
  const auto there = app::anatomy_in(*read, id);
  return there ? json_response(api::anatomy(*there)) : problem(there.error());
}

}  // namespace amdahl::http
