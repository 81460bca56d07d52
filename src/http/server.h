// server.h: serves the loop's answers over HTTP: one process, one thread for all clients.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/tokens.h"
#include "base/result.h"
#include "base/units.h"
#include "http/routes.h"
#include "mcp/runner.h"

namespace amdahl::http {

struct Limits {
  std::size_t header_bytes = 16 << 10;
  std::size_t body_bytes = 1 << 20;
  int connections = 512;
  int waiting = 256;  // Requests that wait for the ledger; more are told to come back.
  Nanos request = std::chrono::seconds(10);  // For a whole request, from its first byte on.
  Nanos idle = std::chrono::seconds(60);     // Between requests of one connection.
  Nanos send = std::chrono::seconds(30);
};

struct ServeOptions {
  std::string address = "127.0.0.1";
  int port = 8300;                // 0: any that is free.
  std::string tls_certificate{};  // Files, in PEM; both or neither.
  std::string tls_key{};
  std::vector<std::string> hosts{};  // See AccessOptions.
  std::optional<app::Token> own_token{};
  std::optional<mcp::Grant> agents{};  // What agents at /mcp may spend; nothing: they are refused.
  Program program{};
  Limits limits{};
  std::function<bool()> stopped{};                      // Asked ten times a second.
  std::function<void(const std::string& url)> ready{};  // When it listens.
};

// Serves until `stopped`. Ledger and scan have a thread each, so that a slow answer stops no other
// client. kBadInput for an address or a certificate that cannot be used.
Result<> serve(const app::Config& config, const ServeOptions& options);

}  // namespace amdahl::http
