// tool.h: the table of what a client may ask for. No row promotes, decides at the gate or runs a
// command of the client's.
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

// Who asks, as far as the message or the handshake said.
struct Caller {
  std::string client;   // The client's name for itself; empty: it gave none.
  bool modern = false;  // Protocol 2026-07-28 or later.
  bool tasks = false;   // It takes a task in place of a result.
};

// What a tool works with.
struct Desk {
  const app::Config& config;
  Runner& runner;
  const Caller& caller;
  const std::function<bool()>& stopped;  // The server ends: do not wait any longer.
};

// How far the work behind an answer is.
struct Progress {
  bool done = true;
  std::string says;
  Json answer;
};

struct Tool {
  std::string_view name;
  std::string_view title;
  std::string_view description;
  std::string_view input;   // JSON Schemas. Arguments are checked against the one,
  std::string_view output;  // and a test checks answers against the other.
  bool read_only;
  bool idempotent;
  // `arguments` keep to the schema. kBadInput and others become a result that is an error, for
  // the model to read.
  Result<Json> (*run)(const Json& arguments, Desk& desk);
  // Of tools that begin work which goes on: how far it is now. Null for the others.
  Result<Progress> (*progress)(const Json& arguments, Desk& desk) = nullptr;
};

std::span<const Tool> tools();
const Tool* find_tool(std::string_view name);

}  // namespace amdahl::mcp
