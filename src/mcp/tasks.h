// tasks.h: handles of work that goes on, kept in the state folder so that they outlive a server.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/result.h"
#include "base/units.h"

namespace amdahl::mcp {

struct Task {
  std::string id;  // 32 hex digits that nobody can guess.
  std::string tool;
  Json arguments;
  Nanos created{};  // Unix time.
  bool cancelled = false;
};

inline constexpr Nanos kTaskLives = std::chrono::hours(24 * 7);

// Stored before it returns. Those that have lived too long go.
Result<Task> make_task(const std::string& state_dir, std::string_view tool, const Json& arguments);
Result<Task> find_task(const std::string& state_dir, const std::string& id);  // kNotFound.
// The work goes on, for an experiment ends in a verdict; nobody waits for it any more.
Result<> cancel_task(const std::string& state_dir, Task task);

}  // namespace amdahl::mcp
