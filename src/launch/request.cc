#include <algorithm>

#include <nlohmann/json.hpp>

#include "launch/launcher.h"
#include "model/codec.h"

namespace amdahl::launch {
namespace {

// Fields that most requests do not use.
void add_finer(const PairRequest& request, Json& json) {
  if (request.concurrent) json["concurrent"] = true;
  if (request.contended) json["contended"] = true;
  if (request.steps) json["steps"] = true;
  if (!request.schedule.empty()) json["schedule"] = request.schedule;
  for (const model::Plan& plan : request.more) json["more"].push_back(model::encode(plan));
  if (!request.order.empty()) json["order"] = request.order;
  if (!request.commit.empty()) json["commit"] = request.commit;
  if (!request.ledger.empty()) json["ledger"] = request.ledger;
  if (!request.ticket.empty()) json["ticket"] = request.ticket;
  if (!request.environment.empty()) json["environment"] = request.environment;
  if (request.allocated) json["allocated"] = true;
  if (request.sandbox) json["sandbox"] = true;
  if (request.by_agent) json["by_agent"] = true;
  if (request.build) json["build"] = true;
  if (request.built) json["built"] = true;
}

template <class T>
void take(const Json& json, const char* name, T& out) {
  if (json.contains(name)) out = json.at(name).get<T>();
}

Result<> take_finer(const Json& json, PairRequest& request) {
  take(json, "concurrent", request.concurrent);
  take(json, "contended", request.contended);
  take(json, "steps", request.steps);
  take(json, "schedule", request.schedule);
  take(json, "order", request.order);
  take(json, "commit", request.commit);
  take(json, "ledger", request.ledger);
  take(json, "ticket", request.ticket);
  take(json, "environment", request.environment);
  take(json, "allocated", request.allocated);
  take(json, "sandbox", request.sandbox);
  take(json, "by_agent", request.by_agent);
  take(json, "build", request.build);
  take(json, "built", request.built);
  if (!json.contains("more")) return Ok{};
  for (const Json& plan : json.at("more")) {
    request.more.push_back(TRY(model::decode<model::Plan>(plan).in("/more")));
  }
  return Ok{};
}

int arms_in_a_row(const PairRequest& request) {
  return request.concurrent ? 1 : 2 + static_cast<int>(request.more.size());
}

int most(const PairRequest& request, int model::Plan::*of) {
  int found = std::max(request.a.*of, request.b.*of);
  for (const model::Plan& plan : request.more) found = std::max(found, plan.*of);
  return found;
}

}  // namespace

bool has_patch(const PairRequest& request) {
  if (request.build) return true;
  if (request.profile) return !request.a.patch.empty();
  return !request.a.patch.empty() || !request.b.patch.empty() ||
         std::ranges::any_of(request.more, [](const auto& plan) { return !plan.patch.empty(); });
}

int most_accelerators(const PairRequest& request) {
  return request.build ? 0 : most(request, &model::Plan::accelerators);
}

int most_cpus(const PairRequest& request) { return most(request, &model::Plan::cpus); }

Nanos longest_arms(const PairRequest& request) {
  if (request.build) return kBuildLimit + kArmGrace;
  return arms_in_a_row(request) * (request.spec.time_limit + kArmGrace);
}

Nanos longest_run(const PairRequest& request) {
  const int trees = 2 + static_cast<int>(request.more.size());
  const bool builds = has_patch(request) && !request.build && !request.built;
  return longest_arms(request) + (builds ? trees * kBuildLimit : Nanos{0});
}

Json encode_request(const PairRequest& request) {
  Json json{{"reservation", request.reservation},
            {"spec", model::encode(request.spec)},
            {"a", model::encode(request.a)},
            {"b", model::encode(request.b)},
            {"variant_second", request.variant_second},
            {"profile", request.profile},
            {"cpus", request.cpus}};
  add_finer(request, json);
  return json;
}

Result<PairRequest> decode_request(const Json& json) {
  PairRequest request;
  try {
    request.reservation = json.at("reservation").get<std::string>();
    request.variant_second = json.at("variant_second").get<bool>();
    request.profile = json.at("profile").get<bool>();
    request.cpus = json.at("cpus").get<std::vector<int>>();
    request.spec = TRY(model::decode<model::Spec>(json.at("spec")).in("/spec"));
    request.a = TRY(model::decode<model::Plan>(json.at("a")).in("/a"));
    request.b = TRY(model::decode<model::Plan>(json.at("b")).in("/b"));
    TRY(take_finer(json, request));
  } catch (const Json::exception& error) {
    return bad_input(error.what());
  }
  return request;
}

}  // namespace amdahl::launch
