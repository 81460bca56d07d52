// served.h: a real `amdahl serve` beside the test, and a client that sends bytes as it likes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include "harness.h"

namespace amdahl::e2e {

struct Reply {
  int status = 0;                              // 0: the server closed without a response.
  std::map<std::string, std::string> headers;  // Names in lower case.
  std::string body;

  nlohmann::json json() const { return nlohmann::json::parse(body, nullptr, false); }
};

class Served {
 public:
  // Starts it on a free port and waits until it listens.
  explicit Served(const Sandbox& sandbox, std::vector<std::string> more = {});
  ~Served();  // SIGTERM; the test fails if it does not end well.
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  int port() const { return port_; }
  pid_t pid() const { return pid_; }
  std::string url() const;

  // One request on a connection of its own; `headers` are "Name: value".
  Reply ask(const std::string& method, const std::string& target,
            const std::vector<std::string>& headers = {}, const std::string& body = "") const;
  // The bytes as they are, then what came back until the server closed, or `seconds` were over.
  std::string raw(const std::string& bytes, double seconds = 5) const;
  int connect() const;  // A descriptor that the caller closes.

 private:
  pid_t pid_ = 0;
  int port_ = 0;
};

// Reads from the descriptor until the text contains `what`, it is closed, or `seconds` are over.
std::string read_until(int fd, const std::string& what, double seconds);

// A token of the role for the sandbox's ledger.
std::string token_for(const Sandbox& sandbox, const std::string& name, const std::string& role);

}  // namespace amdahl::e2e
