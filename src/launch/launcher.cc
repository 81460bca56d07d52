#include "launch/launcher.h"

#include <array>

#include <nlohmann/json.hpp>

#include "launch/local/local.h"
#include "model/codec.h"

namespace amdahl::launch {
namespace {

constexpr auto kKinds = std::to_array<Kind>({
    {"local", "this machine, detached processes on CPU sets kept apart", local::make},
});

Result<model::Plan> plan_at(const Json& json, const char* name) {
  const auto it = json.find(name);
  if (it == json.end()) return bad_input(std::string("/") + name + " is missing");
  return model::decode<model::Plan>(*it).in(name);
}

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

Json encode_request(const PairRequest& request) {
  return {{"reservation", request.reservation},
          {"spec", model::encode(request.spec)},
          {"a", model::encode(request.a)},
          {"b", model::encode(request.b)},
          {"variant_second", request.variant_second},
          {"profile", request.profile},
          {"cpus", request.cpus}};
}

Result<PairRequest> decode_request(const Json& json) {
  if (!json.is_object()) return bad_input("a pair request is a JSON object");
  PairRequest request;
  request.a = TRY(plan_at(json, "a"));
  request.b = TRY(plan_at(json, "b"));
  const auto spec = json.find("spec");
  if (spec == json.end()) return bad_input("/spec is missing");
  request.spec = TRY(model::decode<model::Spec>(*spec).in("spec"));
  try {
    json.at("reservation").get_to(request.reservation);
    json.at("variant_second").get_to(request.variant_second);
    json.at("profile").get_to(request.profile);
    json.at("cpus").get_to(request.cpus);
  } catch (const Json::exception& e) {
    return bad_input(e.what());
  }
  return request;
}

}  // namespace amdahl::launch
