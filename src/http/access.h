// access.h: authentication and authorisation: tokens, browser sessions, origins.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/tokens.h"
#include "base/result.h"
#include "base/units.h"
#include "http/message.h"

namespace amdahl::http {

struct Person {
  std::string name;
  app::Role role = app::Role::kReader;
  std::string token;  // Token id.
  // For a session: required as X-CSRF-Token with every write. Empty: the token itself was sent,
  // which another site cannot do.
  std::string csrf{};
};

struct AccessOptions {
  std::string tokens_file;
  // Accepted host names besides loopback. Requests for other names are refused (DNS rebinding).
  std::vector<std::string> hosts{};
  std::optional<app::Token> own{};  // Of the person who started the server; stored in no file.
};

// Sessions are in memory: a restart ends them. Tokens are read again for each request, so a
// revoked one fails at once. Not thread-safe.
class Access {
 public:
  explicit Access(AccessOptions options) : options_{std::move(options)} {}

  // 421 if the request is for another host; 403 for a write from a page of another site.
  std::optional<Response> refuse_place(const Request& request) const;

  // The requester; nothing if anonymous. 401 for a wrong token or an expired session; 403 for a
  // session without its X-CSRF-Token if `writes`.
  struct Asked {
    std::optional<Person> person{};
    std::optional<Response> refused{};
  };
  Asked who(const Request& request, bool writes, Nanos now);

  // Exchanges a token for a session cookie; and ends the session.
  Response log_in(const Request& request, Nanos now);
  Response log_out(const Request& request);

 private:
  struct Session {
    std::string token;
    std::string csrf;
    Nanos expires{};
  };

  Result<std::vector<app::Token>> tokens() const;
  std::string cookie_name(const Request& request) const;
  std::string session_key(const Request& request) const;

  AccessOptions options_;
  std::map<std::string, Session> sessions_{};  // By hash of the cookie.
};

}  // namespace amdahl::http
