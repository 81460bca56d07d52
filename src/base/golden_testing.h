// golden_testing.h: runs a test on each case of a file of reference values.
#pragma once

#include <functional>
#include <istream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/testing.h"

namespace amdahl {

// The file of the reference values called `name`.
inline std::string golden_file(const std::string& checkout, const std::string& name) {
  return golden_folder(checkout) + "/expected/stats/" + name + ".json";
}

// Calls `check` with each case of the file and the tolerance that the file allows. There must be at
// least one case.
inline void each_golden(std::istream&& file, const std::string& name,
                        const std::function<void(const Json& one, double tolerance)>& check) {
  ASSERT_TRUE(file) << "cannot read " << name;
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto parsed = parse_json(text);
  ASSERT_TRUE(parsed) << parsed.error().text;
  int number = 0;
  for (const Json& one : parsed->at("cases")) {
    SCOPED_TRACE(name + " case " + std::to_string(number++));
    check(one, parsed->at("abs_or_rel_tol").get<double>());
  }
  EXPECT_GT(number, 0);
}

}  // namespace amdahl
