// http.h: HTTP and HTTPS client with retries; errors never contain credentials.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "os/clock.h"

namespace amdahl::os {

struct HttpRequest {
  std::string url{};                   // http:// or https://, without a password.
  bool post = false;                   // False: GET.
  std::string form{};                  // Form-encoded body of a POST.
  std::vector<std::string> headers{};  // "Name: value". May be secret; never printed.
  std::string user{};                  // For basic authentication; empty: none.
  std::string password{};
  Nanos connect_limit = std::chrono::seconds(10);
  Nanos limit = std::chrono::seconds(120);  // Timeout of the whole exchange.
  std::size_t most_bytes = 256 << 20;       // Limit for the decompressed body.
};

struct HttpAnswer {
  int status = 0;
  std::string body;                  // Decompressed.
  std::optional<Nanos> retry_after;  // From the Retry-After header.
  std::string location{};            // Redirect target; never followed.
};

// Returns true to cancel (on ^C).
using Stop = std::function<bool()>;

// Keeps one connection open between requests. Not thread-safe: use one per thread.
class Http {
 public:
  virtual ~Http() = default;
  // Any HTTP status is an answer. kExternal, with address and cause, if there was no answer.
  virtual Result<HttpAnswer> ask(const HttpRequest& request, const Stop& stop) = 0;
};

std::unique_ptr<Http> make_http();

struct RetryPolicy {
  int attempts = 5;
  Nanos first_wait = std::chrono::milliseconds(500);  // Doubled after each attempt, ±25 % jitter.
  Nanos longest_wait = std::chrono::seconds(30);
  Nanos in_all = std::chrono::minutes(2);  // No retry after this total time.
};

// Retries connection errors, timeouts, 429 and 5xx. Returns the last answer or error.
Result<HttpAnswer> ask_with_retries(Http& http, Clock& clock, const HttpRequest& request,
                                    const RetryPolicy& patience, const Stop& stop);

// The address without user, password and query, safe to print: "http://host:9090/x".
std::string shown_address(const std::string& url);

// Validates an address typed by a user.
Result<> check_address(const std::string& url);

}  // namespace amdahl::os
