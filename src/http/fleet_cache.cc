#include "http/fleet_cache.h"

#include <algorithm>
#include <chrono>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/fleet.h"
#include "app/door.h"
#include "app/fleet.h"
#include "app/parse_time.h"
#include "base/text.h"
#include "http/routes.h"

namespace amdahl::http {
namespace {

constexpr Nanos kRenewAfter = std::chrono::minutes(5);
// A scan that failed is not tried again for so many times as long as it took: a page must not wait
// for a scan of a million jobs only to be told the same.
constexpr int kRestOfFailure = 5;
constexpr std::size_t kMostDrawn = 64;
constexpr std::size_t kMostWindows = 4;  // Each keeps a scan.
constexpr std::int64_t kMostRows = 1000;
constexpr std::int64_t kRows = 20;  // As `amdahl scan` shows.
constexpr std::int64_t kRowsOfPage = 50;

template <class Value>
Result<Value> choice_of(const Request& request, const std::string& name, Value by_default,
                        std::optional<Value> (*named)(std::string_view)) {
  const auto found = request.query.find(name);
  if (found == request.query.end()) return by_default;
  if (const auto value = named(found->second)) return *value;
  return bad_input(
      fmt::format("{} cannot be '{}'; see: amdahl scan --help", name, clip(found->second, 40)));
}

Result<std::size_t> rows_of(const Request& request, const std::string& name,
                            std::int64_t by_default) {
  const std::int64_t rows = TRY(number_of(request, name, by_default));
  if (rows >= 1 && rows <= kMostRows) return static_cast<std::size_t>(rows);
  return bad_input(fmt::format("{} must be from 1 to {}, not {}", name, kMostRows, rows));
}

std::string text_of(const Request& request, const std::string& name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? "" : found->second;
}

std::string rank_key(scan::Order order, std::size_t rows) {
  return fmt::format("{} {}", scan::name(order), rows);
}

template <class Value>
bool is_ready(const std::future<Value>& coming) {
  return coming.valid() && coming.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

app::ScanOptions options_for(const std::function<bool()>& stopped,
                             const std::optional<Nanos>& length = {}) {
  app::ScanOptions options;
  options.read.window = length;
  options.read.stop = stopped;
  options.report.rows = kRows;
  return options;
}

// Some dozens of windows, of a length that people name.
Nanos trend_window_for(const scan::Report& report) {
  const Nanos day = std::chrono::hours(24);
  const Nanos whole = report.end - report.start;
  return whole <= 3 * day ? std::chrono::hours(1) : whole <= 90 * day ? day : 7 * day;
}

}  // namespace

FleetCache::Scan FleetCache::begin_scan(const std::optional<Nanos>& length) const {
  return std::async(std::launch::async, [this, length]() -> Result<std::unique_ptr<Kept>> {
    app::ScanOptions options = options_for(stopped_, length);
    auto kept = std::make_unique<Kept>(Kept{TRY(app::scan_fleet(config_, options))});
    options.report.trend_every = trend_window_for(kept->answer.report);
    kept->ranking = TRY(app::ranking_of(config_, kept->answer, options));
    kept->ranked_as = rank_key(options.report.order, options.report.rows);
    kept->at = app::monotonic_now();
    return kept;
  });
}

Result<> FleetCache::have_scan(Window& window) {
  const Nanos now = app::monotonic_now();
  window.asked = now;
  if (!window.kept && window.failed && now < window.again) return *window.failed;
  const bool is_due = now - window.tried >= kRenewAfter;
  if (!window.coming.valid() && (!window.kept || is_due)) {
    window.tried = now;
    window.coming = begin_scan(window.length);
  }
  if (window.kept && !is_ready(window.coming)) return Ok{};
  auto scanned = window.coming.get();
  if (scanned) {
    window.kept = *std::move(scanned);
    window.trouble.clear();
  } else {
    if (!window.kept) {
      window.failed = scanned.error();
      const Nanos ended = app::monotonic_now();
      window.again = ended + kRestOfFailure * (ended - window.tried);
      return *window.failed;
    }
    window.trouble = scanned.error().text;
  }
  return Ok{};
}

Result<FleetCache::Window*> FleetCache::window_of(const Request& request) {
  const std::string typed = text_of(request, "window");
  if (typed.empty()) return &whole();
  const Nanos length = TRY(app::parse_length(typed, "window"));
  const auto known = windows_.find(typed);
  if (known != windows_.end()) return &known->second;
  if (windows_.size() >= kMostWindows) {
    // Not that of what is configured, whose jobs have pages, and none that is being scanned.
    auto oldest = windows_.end();
    for (auto it = windows_.begin(); it != windows_.end(); ++it) {
      const Scan& coming = it->second.coming;
      if (it->first.empty() || (coming.valid() && !is_ready(coming))) continue;
      if (oldest == windows_.end() || it->second.asked < oldest->second.asked) oldest = it;
    }
    if (oldest == windows_.end()) {
      return external("other windows are being scanned; ask again in a moment");
    }
    windows_.erase(oldest);
  }
  Window& window = windows_[typed];
  window.length = length;
  return &window;
}

Result<Json> FleetCache::fleet(const Request& request) {
  const scan::By by = TRY(choice_of(request, "by", scan::By::kFamily, scan::cut_named));
  const scan::Order order =
      TRY(choice_of(request, "order", scan::Order::kRecoverable, scan::order_named));
  const std::size_t top = TRY(rows_of(request, "top", kRows));
  Window& window = *TRY(window_of(request));
  if (const auto scanned = have_scan(window); !scanned) {
    if (scanned.error().kind == Error::Kind::kNotFound) return api::empty_fleet();
    return scanned.error();
  }
  Kept& kept = *window.kept;
  const std::string ranked_as = rank_key(order, top);
  const std::string key = fmt::format("{} {}", scan::name(by), ranked_as);
  const auto known = kept.drawn.find(key);
  if (known != kept.drawn.end()) return known->second;
  if (kept.drawn.size() >= kMostDrawn) kept.drawn.clear();
  if (kept.ranked_as != ranked_as) {
    app::ScanOptions options = options_for(stopped_, window.length);
    options.report.order = order;
    options.report.rows = top;
    TRY(app::rank_fleet(config_, options, kept.answer));
    kept.ranked_as = ranked_as;
  }
  return kept.drawn.emplace(key, api::fleet(kept.answer, by)).first->second;
}

Result<Json> FleetCache::rows(const Request& request) {
  scan::PageOptions page;
  page.by = TRY(choice_of(request, "by", page.by, scan::cut_named));
  page.order = TRY(choice_of(request, "order", page.order, scan::order_named));
  page.skip = static_cast<std::size_t>(TRY(number_of(request, "skip", 0)));
  page.rows = TRY(rows_of(request, "limit", kRowsOfPage));
  page.search = text_of(request, "q");
  page.family = text_of(request, "family");
  if (!page.family.empty() && page.by != scan::By::kJob) {
    return bad_input("family can only be given with by=job");
  }
  Window& window = *TRY(window_of(request));
  scan::Cut found{.by = page.by, .count = 0, .rows = {}, .wasted = {}, .allocated = {}};
  const auto scanned = have_scan(window);
  if (!scanned && scanned.error().kind != Error::Kind::kNotFound) return scanned.error();
  if (scanned) found = window.kept->ranking->page(page);
  Json document = api::fleet_rows(found, page);
  document["age_s"] =
      window.kept ? Json(to_seconds(app::monotonic_now() - window.kept->at)) : Json();
  document["trouble"] = window.trouble;
  return document;
}

Result<Json> FleetCache::trends(const Request& request) {
  Window& window = *TRY(window_of(request));
  const auto scanned = have_scan(window);
  if (!scanned && scanned.error().kind != Error::Kind::kNotFound) return scanned.error();
  return api::fleet_trends(scanned ? window.kept->ranking->report() : scan::Report{});
}

Result<Json> FleetCache::own(const std::string& by, const std::string& name) {
  const auto cut = scan::cut_named(by);
  if (!cut) return Error{Error::Kind::kNotFound, "jobs are looked up by user or account"};
  TRY(have_scan(whole()));
  const app::FleetAnswer& answer = whole().kept->answer;
  const app::OwnWaste found = TRY(app::own_waste(answer, *cut, name, kRows));
  return api::own_waste(found, answer);
}

void FleetCache::take_course(Kept& kept) {
  if (!is_ready(course_)) return;
  auto course = course_.get();
  if (kept.courses.size() >= kMostDrawn) kept.courses.clear();
  if (course) kept.courses.insert_or_assign(reading_, *std::move(course));
  reading_.clear();
}

// A scan keeps the timelines of the largest jobs. That of another one is read beside the pages, one
// job at a time; until then the answer is what is known without it.
Result<Json> FleetCache::fleet_job(const std::string& id) {
  TRY(have_scan(whole()));
  Kept& kept = *whole().kept;
  take_course(kept);
  const auto known = kept.courses.find(id);
  if (known != kept.courses.end()) return known->second;
  const scan::Anatomy anatomy = TRY(app::anatomy_in(kept.answer, id));
  Json document = api::anatomy(anatomy);
  if (anatomy.no_course.empty() || scan::observed_in(anatomy.split) <= 0) return document;
  if (!course_.valid()) {
    reading_ = id;
    course_ = std::async(std::launch::async, [this, id]() -> Result<Json> {
      app::ScanOptions options = options_for(stopped_);
      options.read.timelines_of = {id};
      const app::FleetAnswer read = TRY(app::scan_fleet(config_, options));
      return api::anatomy(TRY(app::anatomy_in(read, id)));
    });
  }
  document["no_timeline"] = "its timeline is being read; this page shows it in a moment";
  return document;
}

// A path would be a file of the server's machine: only names of jobs are taken.
Result<Json> FleetCache::job(const std::string& id) {
  if (id.empty() || id.find('/') != std::string::npos || id.ends_with(".json")) {
    return Error{Error::Kind::kNotFound, "no job has this name"};
  }
  const auto here = app::job_anatomy(config_, id);
  if (here) return api::anatomy(*here);
  if (here.error().kind != Error::Kind::kNotFound || config_.scan_sources.empty()) {
    return here.error();
  }
  return fleet_job(id);
}

Response FleetCache::answer(const Found& found, const Request& request) {
  const auto part = [&](const char* name) { return found.parts.at(name); };
  const std::string_view path = found.route->path;
  const Result<Json> document = path.ends_with("{id}")      ? job(part("id"))
                                : path.ends_with("{name}")  ? own(part("by"), part("name"))
                                : path.ends_with("/rows")   ? rows(request)
                                : path.ends_with("/trends") ? trends(request)
                                                            : fleet(request);
  if (!document) return problem(document.error());
  Response response = json_response(*document);
  const auto asked = windows_.find(text_of(request, "window"));
  if (asked == windows_.end() || !asked->second.kept) return response;
  const Nanos age = app::monotonic_now() - asked->second.kept->at;
  response.headers.emplace_back("Age", fmt::format("{:.0f}", to_seconds(age)));
  return response;
}

}  // namespace amdahl::http
