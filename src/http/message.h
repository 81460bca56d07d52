// message.h: requests and responses as plain data, independent of the transport.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace amdahl::http {

using Headers = std::map<std::string, std::string>;  // Names in lower case.

struct Request {
  std::string method{};             // "GET".
  std::vector<std::string> path{};  // "/api/v1/gate" is "api", "v1", "gate"; percent-decoded.
  std::map<std::string, std::string> query{};
  Headers headers{};
  std::string body{};
  bool over_tls = false;

  std::string shown_path() const;                          // "/api/v1/gate".
  std::string_view header(const std::string& name) const;  // Empty if missing.
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};
};

// Parses a request target into path and query. kBadInput for bad escapes, control characters, a
// path that does not start with "/" or contains "..", and repeated names.
Result<> parse_target(std::string_view target, Request& request);

Response json_response(const Json& document);
// RFC 9457: `detail` says why it failed and what to do.
Response problem(int status, std::string_view title, std::string_view detail);
Response problem(const Error& error);

}  // namespace amdahl::http
