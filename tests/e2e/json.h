// json.h: what the program said with --json, for tests that read it.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness.h"

// Made once, in json.cc: most of a small test's compile time went into it.
extern template class nlohmann::basic_json<>;

namespace amdahl::e2e {

using Json = nlohmann::json;

// What a command printed that should have ended with `code`. If it did not, or printed something
// else, the test fails with what it said; what is no JSON comes back as null. Read it with at():
// that names what is not there, where [] of a constant reads memory that is nobody's.
Json json_of(const Outcome& outcome, int code = 0);

// The ledger's events of a kind ("run.reserved"), oldest first.
std::vector<Json> events(const Sandbox& sandbox, const std::string& kind);

}  // namespace amdahl::e2e
