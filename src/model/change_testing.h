// change_testing.h: changes of one kind, for tests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "model/change.h"

namespace amdahl::model {

inline Change args(std::map<std::string, std::optional<std::string>> flags) {
  Change change;
  change.args = std::move(flags);
  return change;
}

inline Change env(std::map<std::string, std::optional<std::string>> variables) {
  Change change;
  change.env = std::move(variables);
  return change;
}

}  // namespace amdahl::model
