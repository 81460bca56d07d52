// decisions.cc: the routes that write, under the name of the token's holder.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/history.h"
#include "api/loop.h"
#include "app/canary.h"
#include "app/history.h"
#include "app/promote.h"
#include "app/propose.h"
#include "base/text.h"
#include "http/routes.h"
#include "model/codec.h"

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

Result<std::string> reason_in(const Json& body) {
  std::string reason = TRY(text_in(body, "reason"));
  if (reason.empty()) return bad_input("a decision needs a reason");
  return reason;
}

// A decision counts for what its author saw: the digest of another packet is refused.
Result<Json> decide(const Call& call, bool approved) {
  const Json body = TRY(body_of(call));
  const std::string reason = TRY(reason_in(body));
  const std::string seen = TRY(text_in(body, "packet"));
  const ledger::GateRow row = TRY(app::find_gate(call.context, call.parts.at("id")));
  if (seen != row.digest) {
    return Error{Error::Kind::kConflict,
                 fmt::format("the claim {} is not the one that was seen; load it again",
                             row.packet.hypothesis)};
  }
  return api::outcome(
      TRY(app::decide(call.context, row, {approved, call.person.name, reason, seen})));
}

}  // namespace

Result<Json> do_approve(const Call& call) { return decide(call, true); }
Result<Json> do_reject(const Call& call) { return decide(call, false); }

Result<Json> do_roll_back(const Call& call) {
  const Json body = TRY(body_of(call));
  const std::string reason = TRY(reason_in(body));
  return api::outcome(
      TRY(app::roll_back(call.context, call.parts.at("id"), call.person.name, reason)));
}

Result<Json> do_keep(const Call& call) {
  const Json body = TRY(body_of(call));
  const std::string reason = TRY(reason_in(body));
  return api::outcome(
      TRY(app::keep_change(call.context, call.parts.at("id"), call.person.name, reason)));
}

Result<Json> do_reopen(const Call& call) {
  const Json body = TRY(body_of(call));
  const std::string reason = TRY(reason_in(body));
  const ledger::HypothesisRow row = TRY(app::find_hypothesis(call.context, call.parts.at("id")));
  TRY(app::reopen(call.context, row, call.person.name, reason));
  return api::reopened(row.hypothesis.id);
}

Result<Json> do_propose(const Call& call) {
  const Json body = TRY(body_of(call));
  app::Idea idea;
  idea.change = TRY(model::decode<model::Change>(body["change"]).in("change"));
  idea.title = TRY(text_in(body, "title"));
  idea.cause = TRY(text_in(body, "cause"));
  idea.actor = call.person.name;
  if (body.contains("gain")) {
    if (!body["gain"].is_number()) return bad_input("gain must be a share from 0 to 1");
    idea.gain = body["gain"].get<double>();
  }
  if (!(idea.gain >= 0 && idea.gain < 1)) return bad_input("gain must be a share from 0 to 1");
  return api::proposed(TRY(app::propose_change(call.context, call.parts.at("family"), idea)));
}

}  // namespace amdahl::http
