// json.h: what the program said with --json, for tests that read it.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness.h"

namespace amdahl::e2e {

using Json = nlohmann::json;

// What a command printed that should have ended with `code`. If it did not, or printed something
// else, the test fails with what it said; what is no JSON comes back as null. Read it with at():
// that names what is not there, where [] of a constant reads memory that is nobody's.
inline Json json_of(const Outcome& outcome, int code = 0) {
  EXPECT_EQ(outcome.code, code) << "it printed:\n" << outcome.out << outcome.err;
  Json parsed = Json::parse(outcome.out, nullptr, false);
  EXPECT_FALSE(parsed.is_discarded()) << "this is no JSON:\n" << outcome.out << outcome.err;
  return parsed.is_discarded() ? Json() : parsed;
}

// The ledger's events of a kind ("run.reserved"), oldest first.
inline std::vector<Json> events(const Sandbox& sandbox, const std::string& kind) {
  std::vector<Json> found;
  std::istringstream lines(sandbox.amdahl({"ledger", "export"}).out);
  for (std::string line; std::getline(lines, line);) {
    Json event = Json::parse(line);
    if (event.at("kind") == kind) found.push_back(std::move(event));
  }
  return found;
}

}  // namespace amdahl::e2e
