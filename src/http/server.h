// server.h: the HTTP server: one process, one network thread for all clients.
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
  int waiting = 256;  // Queued requests for the ledger; beyond this clients get "try again later".
  Nanos request = std::chrono::seconds(10);  // For a whole request, from its first byte.
  Nanos idle = std::chrono::seconds(60);     // Between requests of one connection.
  Nanos send = std::chrono::seconds(30);
};

struct ServeOptions {
  std::string address = "127.0.0.1";
  int port = 8300;                // 0: any free port.
  std::string tls_certificate{};  // PEM files; both or neither.
  std::string tls_key{};
  std::vector<std::string> hosts{};  // See AccessOptions.
  std::optional<app::Token> own_token{};
  std::optional<mcp::Grant> agents{};  // What agents at /mcp may spend; nothing: refused.
  Program program{};
  Limits limits{};
  std::function<bool()> stopped{};                      // Polled ten times per second.
  std::function<void(const std::string& url)> ready{};  // Called when it listens.
};

// Serves until `stopped`. Ledger and scan have one thread each, so a slow answer does not block
// other clients. kBadInput for an unusable address or certificate.
Result<> serve(const app::Config& config, const ServeOptions& options);

}  // namespace amdahl::http
