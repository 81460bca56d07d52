// tasks.h: handles of running work, kept in the state folder so that they survive a restart.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/result.h"
#include "base/units.h"

namespace amdahl::mcp {

struct Task {
  std::string id;  // 32 random hex digits.
  std::string tool;
  Json arguments;
  Nanos created{};  // Unix time.
  bool cancelled = false;
};

inline constexpr Nanos kTaskLives = std::chrono::hours(24 * 7);

// Stored before it returns. Expired ones are removed.
Result<Task> make_task(const std::string& state_dir, std::string_view tool, const Json& arguments);
Result<Task> find_task(const std::string& state_dir, const std::string& id);  // kNotFound.
// The experiment itself continues to its verdict; only the task ends.
Result<> cancel_task(const std::string& state_dir, Task task);

}  // namespace amdahl::mcp
