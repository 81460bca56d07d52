// server.h: the Model Context Protocol in both eras: one message in, at most one answer out.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "app/config.h"
#include "base/json.h"
#include "mcp/runner.h"
#include "mcp/tool.h"

namespace amdahl::mcp {

// State of one connection: a legacy client introduces itself once.
struct Session {
  std::string client;
};

// Of a message over HTTP: MCP-Protocol-Version, Mcp-Method and Mcp-Name; empty if missing.
struct Headers {
  std::string protocol_version;
  std::string method;
  std::string name;
};

struct Reply {
  std::optional<Json> message;  // Nothing for a notification.
  int http_status = 200;        // For HTTP transports.
};

// Serves clients of 2026-07-28 (stateless) and of older versions with a handshake. Independent of
// the transport. handle() is thread-safe if each thread has its own session, or a locked one.
class Server {
 public:
  Server(const app::Config& config, Grant grant, std::string version);

  Reply handle(const Json& message, Session& session, const Headers* headers = nullptr);
  // For bytes that are not JSON.
  static Reply parse_error();
  // Waiting calls are answered soon, and the cycle ends after its step.
  void stop() { stopping_ = true; }

  struct Failure {
    int code;
    std::string text;
    Json data = nullptr;
    int http_status = 400;
  };
  // One of the two.
  struct Outcome {
    Json result = nullptr;
    std::optional<Failure> failure = std::nullopt;
  };

 private:
  struct Method;
  static const Method* find(const std::string& name, bool modern);

  Outcome answer(const std::string& method, const Json& params, const Caller& caller);
  Outcome initialize(const Json& params, const Caller& caller);
  Outcome discover(const Json& params, const Caller& caller);
  Outcome ping(const Json& params, const Caller& caller);
  Outcome list_tools(const Json& params, const Caller& caller);
  Outcome call_tool(const Json& params, const Caller& caller);
  Outcome list_prompts(const Json& params, const Caller& caller);
  Outcome get_prompt(const Json& params, const Caller& caller);
  Outcome get_task(const Json& params, const Caller& caller);
  Outcome update_task(const Json& params, const Caller& caller);
  Outcome cancel_task(const Json& params, const Caller& caller);

  Json info() const;
  ToolCall call_of(const Caller& caller) { return {config_, runner_, caller, stopped_}; }

  const app::Config config_;
  const std::string version_;
  Runner runner_;
  std::atomic<bool> stopping_ = false;
  const std::function<bool()> stopped_ = [this] { return stopping_.load(); };
};

}  // namespace amdahl::mcp
