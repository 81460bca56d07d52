#include <nlohmann/json.hpp>

#include "launch/launcher.h"
#include "model/codec.h"

namespace amdahl::launch {

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
  PairRequest request;
  try {
    request.reservation = json.at("reservation").get<std::string>();
    request.variant_second = json.at("variant_second").get<bool>();
    request.profile = json.at("profile").get<bool>();
    request.cpus = json.at("cpus").get<std::vector<int>>();
    request.spec = TRY(model::decode<model::Spec>(json.at("spec")).in("/spec"));
    request.a = TRY(model::decode<model::Plan>(json.at("a")).in("/a"));
    request.b = TRY(model::decode<model::Plan>(json.at("b")).in("/b"));
  } catch (const Json::exception& error) {
    return bad_input(error.what());
  }
  return request;
}

}  // namespace amdahl::launch
