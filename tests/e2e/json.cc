#include "json.h"

#include <sstream>

template class nlohmann::basic_json<>;

namespace amdahl::e2e {

Json json_of(const Outcome& outcome, int code) {
  EXPECT_EQ(outcome.code, code) << "it printed:\n" << outcome.out << outcome.err;
  Json parsed = Json::parse(outcome.out, nullptr, false);
  EXPECT_FALSE(parsed.is_discarded()) << "this is no JSON:\n" << outcome.out << outcome.err;
  return parsed.is_discarded() ? Json() : parsed;
}

std::vector<Json> events(const Sandbox& sandbox, const std::string& kind) {
  std::vector<Json> found;
  std::istringstream lines(sandbox.amdahl({"ledger", "export"}).out);
  for (std::string line; std::getline(lines, line);) {
    Json event = Json::parse(line);
    if (event.at("kind") == kind) found.push_back(std::move(event));
  }
  return found;
}

}  // namespace amdahl::e2e
