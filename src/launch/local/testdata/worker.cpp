// What `amdahl exec --pair DIR` does, without the rest of amdahl: the worker of this room's tests.
// `submit STATE REQUEST` submits, so that a test can have the submitter die at a fault point.
#include <cstdio>
#include <string_view>

#include <nlohmann/json.hpp>

#include "launch/launcher.h"
#include "launch/local/nodes.h"

namespace {

amdahl::Result<> submit(const char* state_dir, const char* text) {
  const amdahl::Json json = TRY(amdahl::parse_json(text));
  const auto request = TRY(amdahl::launch::decode_request(json));
  const auto launcher = amdahl::launch::kinds().front().make({state_dir});
  TRY(amdahl::launch::hand_over(*launcher, request));
  return amdahl::Ok{};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const bool submits = argv[1] == std::string_view("submit");
  const bool observes = argv[2] == std::string_view("--node");
  const auto ran = submits    ? submit(argv[2], argv[3])
                   : observes ? amdahl::launch::local::observe_node(argv[3])
                              : amdahl::launch::run_pair(argv[3]);
  if (ran) return 0;
  std::fprintf(stderr, "%s\n", ran.error().text.c_str());
  return 3;
}
