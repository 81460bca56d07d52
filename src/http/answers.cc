// answers.cc: the routes that only read. Each gives the document of a verb's --json.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/document.h"
#include "api/history.h"
#include "api/loop.h"
#include "api/machine.h"
#include "api/profile.h"
#include "app/doctor.h"
#include "app/kept_traces.h"
#include "base/embedded.h"
#include "base/text.h"
#include "http/routes.h"

namespace amdahl {
std::span<const Embedded> embedded_schemas();
}

namespace amdahl::http {
namespace {

constexpr std::int64_t kPage = 50;
constexpr std::int64_t kGatePage = 200;
constexpr std::int64_t kMostOnAPage = 500;

std::string text_of(const Call& call, const std::string& name) {
  const auto found = call.request.query.find(name);
  return found == call.request.query.end() ? "" : found->second;
}

Result<int> limit_of(const Call& call, std::int64_t by_default = kPage) {
  const std::int64_t limit = TRY(number_of(call.request, "limit", by_default));
  if (limit < 1 || limit > kMostOnAPage) {
    return bad_input(fmt::format("limit must be from 1 to {}, not {}", kMostOnAPage, limit));
  }
  return static_cast<int>(limit);
}

Result<std::optional<double>> price_of(const Call& call) {
  const std::string typed = text_of(call, "price");
  if (typed.empty()) return std::optional<double>{};
  const auto price = to_number<double>(typed);
  if (price && *price >= 0 && *price <= 1e6) return price;
  return bad_input(fmt::format("price must be USD of at least 0, not '{}'", clip(typed, 40)));
}

}  // namespace

Result<Json> answer_status(const Call& call) { return api::status(call.context); }

Result<Json> answer_hypotheses(const Call& call) {
  app::HypothesisFilter filter{text_of(call, "family"), text_of(call, "state")};
  filter.before = TRY(number_of(call.request, "before", 0));
  filter.at_most = TRY(limit_of(call));
  return api::hypotheses(call.context, filter);
}

Result<Json> answer_hypothesis(const Call& call) {
  return api::story(call.context, call.parts.at("id"));
}

Result<Json> answer_pairs(const Call& call) {
  return api::pairs(call.context, call.parts.at("id"));
}

Result<Json> answer_receipts(const Call& call) {
  return api::receipts(call.context, call.parts.at("id"), call.parts.at("reservation"));
}

Result<Json> answer_search(const Call& call) {
  const std::string words = text_of(call, "q");
  if (trim(words).empty()) return bad_input("q must have the words to search for");
  return api::found(call.context, words, TRY(limit_of(call)));
}

Result<Json> answer_log(const Call& call) {
  const std::int64_t before = TRY(number_of(call.request, "before", 0));
  return api::events(call.context, text_of(call, "subject"), before, TRY(limit_of(call)));
}

Result<Json> answer_gate(const Call& call) {
  return api::gate(call.context, TRY(limit_of(call, kGatePage)));
}

Result<Json> answer_gate_item(const Call& call) {
  return api::gate_item(call.context, call.parts.at("id"));
}

Result<Json> answer_roi(const Call& call) { return api::roi(call.context, TRY(price_of(call))); }

Result<Json> answer_roi_csv(const Call& call) {
  const std::optional<double> price = TRY(price_of(call));
  return Json(app::roi_csv(TRY(app::return_on_investment(call.context, price))));
}

Result<Json> answer_traces(const Call& call) {
  return api::document({{"traces", app::kept_traces(call.context.config)}});
}

Result<Json> answer_trace(const Call& call) {
  return app::kept_trace(call.context.config, call.parts.at("name"));
}

Result<Json> answer_stacks(const Call& call) { return api::stacks(call.context); }

Result<Json> answer_canaries(const Call& call) {
  return api::canaries(call.context, text_of(call, "family"));
}

Result<Json> answer_profile(const Call& call) {
  return api::job_profile(call.context, call.parts.at("family"));
}

Result<Json> answer_doctor(const Call& call) {
  return api::doctor(app::examine(call.context.config));
}

Result<Json> answer_config(const Call& call) { return api::settings(call.context.config); }

Result<Json> answer_version(const Call& call) {
  return api::version(call.program.version, call.program.revision);
}

Result<Json> answer_open_api(const Call& call) { return open_api(call.program); }

Result<Json> answer_schema(const Call& call) {
  std::string name = call.parts.at("name");
  if (!name.ends_with(".schema.json")) name += ".schema.json";
  for (const Embedded& file : embedded_schemas()) {
    const std::string_view called = file.path.substr(file.path.find('/') + 1);
    if (called == name) return parse_json(file.bytes);
  }
  return Error{Error::Kind::kNotFound, "no answer has this schema; see /api/v1/openapi.json"};
}

}  // namespace amdahl::http
