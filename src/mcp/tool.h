// tool.h: the table of tools. None of them promotes, decides at the gate or runs a client's
// command.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "app/config.h"
#include "base/json.h"
#include "base/result.h"

namespace amdahl::mcp {

class Runner;

// The caller, as far as the message or the handshake says.
struct Caller {
  std::string client;   // Its own name; empty: unknown.
  bool modern = false;  // Protocol 2026-07-28 or later.
  bool tasks = false;   // Accepts a task instead of a result.
};

// What a tool works with.
struct ToolCall {
  const app::Config& config;
  Runner& runner;
  const Caller& caller;
  const std::function<bool()>& stopped;  // The server is stopping: do not wait any longer.
};

// Progress of the work behind an answer.
struct Progress {
  bool done = true;
  std::string says;
  Json answer;
};

struct Tool {
  std::string_view name;
  std::string_view title;
  std::string_view description;
  std::string_view input;   // JSON Schema of the arguments; always checked.
  std::string_view output;  // JSON Schema of the answer; checked by a test.
  bool read_only;
  bool idempotent;
  // `arguments` match the schema. Errors become error results for the model to read.
  Result<Json> (*run)(const Json& arguments, ToolCall& call);
  // For tools that start long work: its progress. Null for others.
  Result<Progress> (*progress)(const Json& arguments, ToolCall& call) = nullptr;
};

std::span<const Tool> tools();
const Tool* find_tool(std::string_view name);

}  // namespace amdahl::mcp
