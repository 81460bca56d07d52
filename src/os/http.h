// http.h: asks a server over HTTP or HTTPS, patiently, and never shows what was secret in it.
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
  std::string url{};                   // http:// or https://, without a password in it.
  bool post = false;                   // Else GET.
  std::string form{};                  // Of a POST, encoded.
  std::vector<std::string> headers{};  // "Name: value". May be secret: never shown.
  std::string user{};                  // Of basic authentication; empty: none.
  std::string password{};
  Nanos connect_limit = std::chrono::seconds(10);
  Nanos limit = std::chrono::seconds(120);  // For the whole answer.
  std::size_t most_bytes = 256 << 20;       // Of the answer, decompressed.
};

struct HttpAnswer {
  int status = 0;
  std::string body;                  // Decompressed.
  std::optional<Nanos> retry_after;  // As the server asked.
  std::string location{};            // Where it sends us, which we do not follow.
};

// Asked whether to give up: on ^C.
using Stop = std::function<bool()>;

// One connection at a time, kept open between requests: one for each thread.
class Http {
 public:
  virtual ~Http() = default;
  // Any status is an answer. kExternal, with the address and the cause, if there was none.
  virtual Result<HttpAnswer> ask(const HttpRequest& request, const Stop& stop) = 0;
};

std::unique_ptr<Http> make_http();

struct RetryPolicy {
  int attempts = 5;
  Nanos first_wait = std::chrono::milliseconds(500);  // Doubled each time, and spread by a quarter.
  Nanos longest_wait = std::chrono::seconds(30);
  Nanos in_all = std::chrono::minutes(2);  // After this nothing is asked again.
};

// Asks again where that may help: no connection, a timeout, 429 and 5xx. The last answer or error.
Result<HttpAnswer> ask_with_retries(Http& http, Clock& clock, const HttpRequest& request,
                                    const RetryPolicy& patience, const Stop& stop);

// "http://host:9090/x" as people may see it: without user, password and query.
std::string shown_address(const std::string& url);

// Ok, or what is wrong with an address that a person typed.
Result<> check_address(const std::string& url);

}  // namespace amdahl::os
