#include "http/routes.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace amdahl::http {
namespace {

using Kind = Route::Kind;
constexpr auto kReader = app::Role::kReader;
constexpr auto kProposer = app::Role::kProposer;
constexpr auto kApprover = app::Role::kApprover;
constexpr std::nullopt_t kAnybody = std::nullopt;

constexpr auto kRoutes = std::to_array<Route>({
    {"GET", "/api/v1/status", Kind::kDocument, kReader, "the state of the loop", "status", "", "",
     answer_status, true},
    {"GET", "/api/v1/hypotheses", Kind::kDocument, kReader, "a page of hypotheses, newest last",
     "ledger-list", "family state before limit", "", answer_hypotheses},
    {"GET", "/api/v1/hypotheses/{id}", Kind::kDocument, kReader, "all about one hypothesis",
     "ledger-show", "", "", answer_hypothesis},
    {"GET", "/api/v1/hypotheses/{id}/pairs", Kind::kDocument, kReader,
     "the pairs of an experiment, and what was known after each", "ledger-pairs", "", "",
     answer_pairs},
    {"GET", "/api/v1/hypotheses/{id}/receipts/{reservation}", Kind::kDocument, kReader,
     "receipts of one pair, with the end of what it printed", "receipts", "", "", answer_receipts},
    {"GET", "/api/v1/search", Kind::kDocument, kReader, "hypotheses by the words in them",
     "ledger-search", "q limit", "", answer_search},
    {"GET", "/api/v1/log", Kind::kDocument, kReader, "a page of the ledger's events, newest first",
     "ledger-log", "subject before limit", "", answer_log},
    {"GET", "/api/v1/gate", Kind::kDocument, kReader,
     "what waits for a person, and the newest that was decided", "gate", "limit", "", answer_gate},
    {"GET", "/api/v1/gate/{id}", Kind::kDocument, kReader, "one claim at the gate", "gate-show", "",
     "", answer_gate_item},
    {"GET", "/api/v1/roi", Kind::kDocument, kReader, "hours and money spent and saved", "roi",
     "price", "", answer_roi, true},
    {"GET", "/api/v1/roi.csv", Kind::kTable, kReader,
     "what was spent and banked, by month and family, as a table", "", "price", "", answer_roi_csv},
    {"GET", "/api/v1/stacks", Kind::kDocument, kReader, "promoted changes measured together",
     "stack", "", "", answer_stacks},
    {"GET", "/api/v1/canaries", Kind::kDocument, kReader, "promoted changes watched in production",
     "canary", "family", "", answer_canaries},
    {"GET", "/api/v1/families/{family}/profile", Kind::kDocument, kReader,
     "why the accelerators of a family wait", "profile-job", "", "", answer_profile},
    {"GET", "/api/v1/fleet", Kind::kFleet, kReader,
     "where accelerator time went, from the kept scan", "scan", "by order top window", "", nullptr},
    {"GET", "/api/v1/fleet/rows", Kind::kFleet, kReader,
     "a page of rows of the kept scan, searched and ordered", "fleet-rows",
     "by order q family skip limit window", "", nullptr},
    {"GET", "/api/v1/fleet/trends", Kind::kFleet, kReader,
     "waste of the fleet and its first families, window by window, from the kept scan",
     "fleet-trends", "window", "", nullptr},
    {"GET", "/api/v1/fleet/{by}/{name}", Kind::kFleet, kReader,
     "what the jobs of one user or account waste, from the kept scan", "scan-of", "", "", nullptr},
    {"GET", "/api/v1/traces", Kind::kDocument, kReader,
     "names of profiles of traces that were kept", "traces", "", "", answer_traces},
    {"GET", "/api/v1/traces/{name}", Kind::kDocument, kReader,
     "a kept profile of traces, or the differences of two", "", "", "", answer_trace},
    {"GET", "/api/v1/jobs/{id}", Kind::kFleet, kReader, "one job's timeline, cut into parts",
     "anatomy", "", "", nullptr},
    {"GET", "/api/v1/doctor", Kind::kDocument, kReader, "what works on this machine", "doctor", "",
     "", answer_doctor},
    {"GET", "/api/v1/config", Kind::kDocument, kReader, "every setting and its source", "config",
     "", "", answer_config},
    {"GET", "/api/v1/version", Kind::kDocument, kAnybody, "version of the program", "version", "",
     "", answer_version},
    {"GET", "/api/v1/openapi.json", Kind::kDocument, kAnybody, "this interface as OpenAPI 3.1", "",
     "", "", answer_open_api},
    {"GET", "/api/v1/schemas/{name}", Kind::kDocument, kAnybody, "the JSON Schema of an answer", "",
     "", "", answer_schema},
    {"GET", "/api/v1/events", Kind::kEvents, kReader,
     "new events of the ledger, as server-sent events; resumes after Last-Event-ID", "", "after",
     "", nullptr},
    {"GET", "/metrics", Kind::kText, kReader, "metrics for Prometheus", "", "", "", nullptr},
    {"GET", "/api/v1/session", Kind::kSession, kReader, "who is asking", "session", "", "",
     nullptr},
    {"POST", "/api/v1/session", Kind::kSession, kAnybody, "log in with a token: gives a cookie",
     "session", "", "token", nullptr},
    {"DELETE", "/api/v1/session", Kind::kSession, kReader, "log out", "outcome", "", "", nullptr},
    {"POST", "/mcp", Kind::kMcp, kProposer, "the Model Context Protocol: docs/format/mcp.md", "",
     "", "", nullptr},
    {"POST", "/api/v1/gate/{id}/approve", Kind::kDocument, kApprover,
     "promote a change; `packet` is the digest of its packet", "outcome", "", "reason packet",
     do_approve},
    {"POST", "/api/v1/gate/{id}/reject", Kind::kDocument, kApprover,
     "decline a change; `packet` is the digest of its packet", "outcome", "", "reason packet",
     do_reject},
    {"POST", "/api/v1/hypotheses/{id}/rollback", Kind::kDocument, kApprover,
     "take a promoted change out of its family's stack", "outcome", "", "reason", do_roll_back},
    {"POST", "/api/v1/canaries/{id}/keep", Kind::kDocument, kApprover,
     "end the watch over a promoted change and keep it", "outcome", "", "reason", do_keep},
    {"POST", "/api/v1/hypotheses/{id}/reopen", Kind::kDocument, kApprover,
     "let a hypothesis with a verdict be proposed again", "ledger-reopen", "", "reason", do_reopen},
    {"POST", "/api/v1/families/{family}/hypotheses", Kind::kDocument, kProposer,
     "put an idea to the test; the loop will run it", "propose", "", "title change gain? cause?",
     do_propose},
});

// "{id}" of the pattern takes one whole part of the path.
bool matches(std::string_view pattern, const std::vector<std::string>& given,
             std::map<std::string, std::string>& parts) {
  const std::vector<std::string_view> wanted = split(pattern.substr(1), '/');
  if (wanted.size() != given.size()) return false;
  parts.clear();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i].starts_with('{')) {
      if (wanted[i] != given[i]) return false;
      continue;
    }
    if (given[i].empty()) return false;
    parts.emplace(wanted[i].substr(1, wanted[i].size() - 2), given[i]);
  }
  return true;
}

std::vector<std::string_view> words_of(std::string_view text) {
  return text.empty() ? std::vector<std::string_view>() : split(text, ' ');
}

Json parameters_of(const Route& route) {
  Json list = Json::array();
  for (const std::string_view part : split(route.path, '/')) {
    if (!part.starts_with('{')) continue;
    list.push_back({{"name", part.substr(1, part.size() - 2)},
                    {"in", "path"},
                    {"required", true},
                    {"schema", {{"type", "string"}}}});
  }
  for (const std::string_view name : words_of(route.query)) {
    list.push_back({{"name", name}, {"in", "query"}, {"schema", {{"type", "string"}}}});
  }
  return list;
}

Json body_of(const Route& route) {
  Json properties = Json::object();
  Json required = Json::array();
  for (std::string_view field : words_of(route.body)) {
    const bool optional = field.ends_with('?');
    if (optional) field.remove_suffix(1);
    if (!optional) required.push_back(field);
    properties[std::string(field)] = Json::object();
  }
  const Json schema = {{"type", "object"},
                       {"properties", properties},
                       {"required", required},
                       {"additionalProperties", false}};
  return {{"required", true}, {"content", {{"application/json", {{"schema", schema}}}}}};
}

Json operation_of(const Route& route) {
  Json good = {{"description", "the answer"}};
  if (route.kind == Kind::kEvents) {
    good["content"]["text/event-stream"] = Json::object();
  } else if (route.kind == Kind::kText) {
    good["content"]["text/plain"] = Json::object();
  } else if (route.kind == Kind::kTable) {
    good["content"]["text/csv"] = Json::object();
  } else {
    Json schema = Json::object();
    if (!route.schema.empty()) schema["$ref"] = fmt::format("/api/v1/schemas/{}", route.schema);
    good["content"]["application/json"] = {{"schema", schema}};
  }
  const Json bad = {{"description", "what went wrong (RFC 9457)"},
                    {"content", {{"application/problem+json", Json::object()}}}};
  Json operation = {{"summary", route.does},
                    {"parameters", parameters_of(route)},
                    {"responses", {{"200", good}, {"default", bad}}}};
  operation["security"] = Json::array();
  if (route.role) {
    operation["description"] = fmt::format("Needs the role {}.", app::name(*route.role));
    operation["security"] = {{{"token", Json::array()}}, {{"session", Json::array()}}};
  }
  if (!route.body.empty()) operation["requestBody"] = body_of(route);
  return operation;
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

Found find_route(const Request& request) {
  Found found;
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  std::map<std::string, std::string> parts;
  for (const Route& route : kRoutes) {
    if (!matches(route.path, request.path, parts)) continue;
    if (route.method == method) return {&route, std::move(parts), ""};
    found.allowed += (found.allowed.empty() ? "" : ", ") + std::string(route.method);
  }
  return found;
}

Result<> check_query(const Route& route, const Request& request) {
  const std::vector<std::string_view> known = words_of(route.query);
  for (const auto& [name, _] : request.query) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const auto near = did_you_mean(name, known);
    return bad_input(fmt::format("unknown parameter '{}'{}", clip(name, 40),
                                 near ? fmt::format(", did you mean '{}'?", *near) : ""));
  }
  return Ok{};
}

Result<Json> read_body(const Route& route, const Request& request) {
  if (!lower(request.header("content-type")).starts_with("application/json")) {
    return bad_input("send JSON, with Content-Type: application/json");
  }
  Json body = TRY(parse_json(request.body).in("body"));
  if (!body.is_object()) return bad_input("the body must be a JSON object");
  std::vector<std::string_view> known;
  for (std::string_view field : words_of(route.body)) {
    const bool optional = field.ends_with('?');
    if (optional) field.remove_suffix(1);
    known.push_back(field);
    if (!optional && !body.contains(field)) {
      return bad_input(fmt::format("the body needs the field '{}'", field));
    }
  }
  for (const auto& [name, _] : body.items()) {
    if (std::ranges::find(known, name) == known.end()) {
      return bad_input(fmt::format("the body has the unknown field '{}'", clip(name, 40)));
    }
  }
  return body;
}

Result<std::int64_t> number_of(const Request& request, const std::string& name,
                               std::int64_t by_default) {
  const auto found = request.query.find(name);
  if (found == request.query.end()) return by_default;
  const auto number = to_number<std::int64_t>(found->second);
  if (number && *number >= 0) return *number;
  return bad_input(fmt::format("{} must be a whole number of at least 0, not '{}'", name,
                               clip(found->second, 40)));
}

Json open_api(const Program& program) {
  Json paths = Json::object();
  for (const Route& route : kRoutes) {
    paths[std::string(route.path)][lower(route.method)] = operation_of(route);
  }
  return {{"openapi", "3.1.0"},
          {"info", {{"title", "Amdahl Loop"}, {"version", program.version}}},
          {"paths", paths},
          {"components",
           {{"securitySchemes",
             {{"token", {{"type", "http"}, {"scheme", "bearer"}}},
              {"session", {{"type", "apiKey"}, {"in", "cookie"}, {"name", "amdahl"}}}}}}}};
}

}  // namespace amdahl::http
