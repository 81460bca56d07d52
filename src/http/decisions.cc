// decisions.cc: the routes that write, under the name of the token's holder.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/history.h"
#include "api/loop.h"
#include "base/text.h"
#include "http/routes.h"

namespace amdahl::http {
namespace {

constexpr std::size_t kLongestText = 4000;

Result<Json> body_of(const Call& call) {
  return read_body(*find_route(call.request).route, call.request);
}

Result<std::string> text_in(const Json& body, const char* field) {
  if (!body.contains(field)) return std::string();
  if (!body[field].is_string()) return bad_input(fmt::format("{} must be text", field));
  const std::string text(trim(body[field].get_ref<const std::string&>()));
  if (text.size() <= kLongestText) return text;
  return bad_input(fmt::format("{} must be at most {} bytes long", field, kLongestText));
}

// A decision counts for what its author saw.
Result<api::Decision> decision_of(const Call& call) {
  const Json body = TRY(body_of(call));
  api::Decision decision{call.parts.at("id"), call.person.name, TRY(text_in(body, "reason"))};
  if (decision.reason.empty()) return bad_input("a decision needs a reason");
  if (!body.contains("packet")) return decision;
  decision.seen = TRY(text_in(body, "packet"));
  if (decision.seen.empty()) return bad_input("packet must be the digest of the claim");
  return decision;
}

}  // namespace

Result<Json> do_approve(const Call& call) {
  return api::approve(call.context, TRY(decision_of(call)));
}

Result<Json> do_reject(const Call& call) {
  return api::reject(call.context, TRY(decision_of(call)));
}

Result<Json> do_roll_back(const Call& call) {
  return api::roll_back(call.context, TRY(decision_of(call)));
}

Result<Json> do_keep(const Call& call) { return api::keep(call.context, TRY(decision_of(call))); }

Result<Json> do_reopen(const Call& call) {
  const api::Decision decision = TRY(decision_of(call));
  return api::reopen(call.context, decision.id, decision.who, decision.reason);
}

Result<Json> do_propose(const Call& call) {
  const Json body = TRY(body_of(call));
  app::Idea idea;
  idea.change = TRY(api::change_in(body["change"]).in("change"));
  idea.title = TRY(text_in(body, "title"));
  idea.cause = TRY(text_in(body, "cause"));
  idea.actor = call.person.name;
  if (body.contains("gain")) {
    if (!body["gain"].is_number()) return bad_input("gain must be a share from 0 to 1");
    idea.gain = body["gain"].get<double>();
  }
  if (!(idea.gain >= 0 && idea.gain < 1)) return bad_input("gain must be a share from 0 to 1");
  return api::propose(call.context, call.parts.at("family"), idea);
}

}  // namespace amdahl::http
