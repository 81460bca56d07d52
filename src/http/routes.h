// routes.h: the table of HTTP routes, and its OpenAPI description.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/context.h"
#include "app/tokens.h"
#include "base/json.h"
#include "base/result.h"
#include "http/access.h"
#include "http/message.h"

namespace amdahl::http {

// For answers that name the program.
struct Program {
  std::string version;
  std::string revision;
};

// One request as its route sees it.
struct Call {
  app::Context& context;
  const Request& request;
  const std::map<std::string, std::string>& parts;  // Path parameters: "id" to "h-12".
  const Person& person;
  const Program& program;
};

struct Route {
  enum class Kind : std::uint8_t {
    kDocument,  // `answer` returns the document.
    kFleet,     // The same from the cached scan: http/fleet_cache.h.
    kSession,   // Login and logout.
    kEvents,    // Event stream of the ledger.
    kText,      // Metrics.
    kTable,     // `answer` returns a text: a CSV file.
    kMcp,       // A message of the Model Context Protocol.
  };

  std::string_view method;
  std::string_view path;  // "/api/v1/gate/{id}".
  Kind kind;
  std::optional<app::Role> role;  // Minimum role; nothing: public.
  std::string_view does;          // For people.
  std::string_view schema;        // Schema in docs/format/answers; "" if none.
  std::string_view query;         // Accepted query parameters, separated by spaces.
  std::string_view body;          // JSON fields: "reason packet?"; "?": optional.
  Result<Json> (*answer)(const Call&);
  bool may_keep = false;  // Dear, and the same while the ledger has no news.

  bool writes() const { return method != "GET"; }
};

std::span<const Route> routes();

struct Found {
  const Route* route = nullptr;
  std::map<std::string, std::string> parts{};
  std::string allowed{};  // Allowed methods, if the request's is not one of them.
};
Found find_route(const Request& request);

// Ok, or the first unknown or missing parameter or field.
Result<> check_query(const Route& route, const Request& request);
Result<Json> read_body(const Route& route, const Request& request);

// A numeric parameter; kBadInput names it.
Result<std::int64_t> number_of(const Request& request, const std::string& name,
                               std::int64_t by_default);

Json open_api(const Program& program);

// Functions of the rows: answers.cc reads, decisions.cc writes.
Result<Json> answer_status(const Call& call);
Result<Json> answer_hypotheses(const Call& call);
Result<Json> answer_hypothesis(const Call& call);
Result<Json> answer_pairs(const Call& call);
Result<Json> answer_receipts(const Call& call);
Result<Json> answer_search(const Call& call);
Result<Json> answer_log(const Call& call);
Result<Json> answer_gate(const Call& call);
Result<Json> answer_gate_item(const Call& call);
Result<Json> answer_roi(const Call& call);
Result<Json> answer_roi_csv(const Call& call);
Result<Json> answer_stacks(const Call& call);
Result<Json> answer_traces(const Call& call);
Result<Json> answer_trace(const Call& call);
Result<Json> answer_canaries(const Call& call);
Result<Json> answer_profile(const Call& call);
Result<Json> answer_doctor(const Call& call);
Result<Json> answer_config(const Call& call);
Result<Json> answer_version(const Call& call);
Result<Json> answer_open_api(const Call& call);
Result<Json> answer_schema(const Call& call);
Result<Json> do_approve(const Call& call);
Result<Json> do_reject(const Call& call);
Result<Json> do_roll_back(const Call& call);
Result<Json> do_keep(const Call& call);
Result<Json> do_reopen(const Call& call);
Result<Json> do_propose(const Call& call);

}  // namespace amdahl::http
