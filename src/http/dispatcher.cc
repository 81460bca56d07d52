#include "http/dispatcher.h"

#include <chrono>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/document.h"
#include "api/history.h"
#include "app/door.h"
#include "app/history.h"
#include "base/hash.h"
#include "base/text.h"
#include "http/assets.h"

namespace amdahl::http {
namespace {

constexpr int kEventsAtOnce = 200;
// What no event tells, such as the lease, may be as old as this.
constexpr Nanos kKeepFor = std::chrono::seconds(1);
constexpr std::size_t kMostKept = 32;

constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src "
    "'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

Response refuse_role(const Route& route, const Person& person) {
  return problem(403, "not allowed",
                 fmt::format("{} is a {}; this needs the role {}", person.name,
                             app::name(person.role), app::name(*route.role)));
}

bool is_safe(const Request& request) { return request.method == "GET" || request.method == "HEAD"; }

}  // namespace

Dispatcher::Answer Dispatcher::answer(const Request& request, const Traffic& traffic) {
  if (auto refused = access_.refuse_place(request)) return {.response = *std::move(refused)};
  const Found found = find_route(request);
  if (!found.route && found.allowed.empty() && is_safe(request)) {
    return {.response = asset(request)};
  }
  if (!found.route && found.allowed.empty()) {
    return {.response = problem(404, "not found", "see /api/v1/openapi.json")};
  }
  if (!found.route) {
    Response response = problem(405, "wrong method", "allowed here: " + found.allowed);
    response.headers.emplace_back("Allow", found.allowed);
    return {.response = std::move(response)};
  }
  const Route& route = *found.route;
  const Nanos now = app::unix_now();
  Person person;
  if (route.role) {
    Access::Asked asked = access_.who(request, route.writes(), now);
    if (asked.refused) return {.response = *std::move(asked.refused)};
    if (!asked.person) {
      Response response = problem(401, "authentication required",
                                  "log in, or send: Authorization: Bearer TOKEN; a token comes "
                                  "from: amdahl serve token add NAME --role " +
                                      std::string(app::name(*route.role)));
      response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"amdahl\"");
      return {.response = std::move(response)};
    }
    person = *std::move(asked.person);
    if (person.role < *route.role) return {.response = refuse_role(route, person)};
  }
  if (const auto checked = check_query(route, request); !checked) {
    return {.response = problem(checked.error())};
  }
  return admitted(found, request, person, traffic);
}

Dispatcher::Answer Dispatcher::admitted(const Found& found, const Request& request,
                                        const Person& person, const Traffic& traffic) {
  const Route& route = *found.route;
  switch (route.kind) {
    case Route::Kind::kDocument:
      return {.response = document(found, request, person)};
    case Route::Kind::kTable: {
      const auto table = route.answer({context_, request, found.parts, person, program_});
      if (!table) return {.response = problem(table.error())};
      Response response{.type = "text/csv; charset=utf-8", .body = table->get<std::string>()};
      response.headers.emplace_back("Content-Disposition", "attachment");
      return {.response = std::move(response)};
    }
    case Route::Kind::kFleet:
      return {.then = Answer::Then::kFleet, .found = found};
    case Route::Kind::kSession:
      return {.response = session(request, person)};
    case Route::Kind::kEvents: {
      auto begun = begin_events(request);
      return begun ? *std::move(begun) : Answer{.response = problem(begun.error())};
    }
    case Route::Kind::kMcp:
      return {.then = Answer::Then::kMcp, .who = person.name};
    case Route::Kind::kText:
      break;
  }
  // The traffic in it may be as old as the rest.
  const std::string accept(request.header("accept"));
  return {.response = kept("/metrics\n" + accept, [&] { return measures(request, traffic); })};
}

Response Dispatcher::measures(const Request& request, const Traffic& traffic) {
  const auto status = app::read_status(context_);
  if (!status) return problem(status.error());
  const auto roi = app::return_on_investment(context_, std::nullopt);
  if (!roi) return problem(roi.error());
  return metrics(*status, *roi, traffic, program_, request.header("accept"));
}

// Many clients ask for the same when the ledger has news, and one page asks for some more than
// once: what was just answered holds while no event comes.
Response Dispatcher::kept(const std::string& key, const std::function<Response()>& make) {
  const auto newest = latest();
  if (!newest) return make();
  const Nanos now = app::monotonic_now();
  if (*newest != kept_at_ || now - kept_since_ > kKeepFor) {
    kept_.clear();
    kept_at_ = *newest;
    kept_since_ = now;
  }
  if (const auto known = kept_.find(key); known != kept_.end()) return known->second;
  Response response = make();
  if (response.status == 200 && kept_.size() < kMostKept) kept_.emplace(key, response);
  return response;
}

Response Dispatcher::document(const Found& found, const Request& request, const Person& person) {
  const auto make = [&] {
    const auto document = found.route->answer({context_, request, found.parts, person, program_});
    return document ? json_response(*document) : problem(document.error());
  };
  if (!found.route->may_keep) return make();
  std::string key = request.shown_path();
  for (const auto& [name, value] : request.query) key += fmt::format("\n{}={}", name, value);
  return kept(key, make);
}

Response Dispatcher::session(const Request& request, const Person& person) {
  if (request.method == "POST") return access_.log_in(request, app::unix_now());
  if (request.method == "DELETE") return access_.log_out(request);
  return json_response(api::document({{"name", person.name},
                                      {"role", app::name(person.role)},
                                      {"csrf", person.csrf.empty() ? Json() : Json(person.csrf)}}));
}

Result<Dispatcher::Answer> Dispatcher::begin_events(const Request& request) {
  Answer answer{.then = Answer::Then::kEvents};
  answer.response.type = "text/event-stream";
  const std::string_view last = request.header("last-event-id");
  if (const auto seen = to_number<std::int64_t>(last); seen && *seen >= 0) {
    answer.after = *seen;
  } else if (request.query.contains("after")) {
    answer.after = TRY(number_of(request, "after", 0));
  } else {
    answer.after = TRY(latest());
  }
  return answer;
}

Result<std::int64_t> Dispatcher::latest() {
  const std::vector<ledger::Event> newest = TRY(app::events_about(context_, "", 0, 1));
  return newest.empty() ? 0 : newest.front().seq;
}

Result<Dispatcher::Batch> Dispatcher::events_after(std::int64_t after) {
  if (after == batch_after_ && batch_.upto == TRY(latest())) return batch_;
  Batch batch{.upto = after};
  int count = 0;
  const auto take = [&](const ledger::Event& event) {
    if (count == kEventsAtOnce) return false;
    batch.text += fmt::format("id: {}\ndata: {}\n\n", event.seq, dump_json(api::event(event)));
    batch.upto = event.seq;
    return ++count < kEventsAtOnce;
  };
  TRY(app::each_event(context_, take, after));
  batch_after_ = after;
  batch_ = batch;
  return batch;
}

void finish(const Request& request, Response& response) {
  const auto add = [&](const char* name, std::string_view value) {
    response.headers.emplace_back(name, value);
  };
  add("Content-Security-Policy", kPolicy);
  add("X-Content-Type-Options", "nosniff");
  add("Referrer-Policy", "no-referrer");
  add("Cross-Origin-Opener-Policy", "same-origin");
  add("Cross-Origin-Resource-Policy", "same-origin");
  bool says_how_long = false;
  for (const auto& [name, _] : response.headers) says_how_long |= name == "Cache-Control";
  if (!says_how_long) add("Cache-Control", "no-store");
  if (!is_safe(request) || response.status != 200 || response.body.empty()) return;
  const std::string tag = fmt::format("\"{}\"", sha256_hex(response.body).substr(0, 32));
  add("ETag", tag);
  if (request.header("if-none-match") != tag) return;
  response.status = 304;
  response.body.clear();
}

}  // namespace amdahl::http
