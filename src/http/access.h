// access.h: who is asking, and whether that may be: tokens, sessions of browsers, origins.
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
  std::string token;  // Its id.
  // Of a session: what a page must send as X-CSRF-Token with all that writes. Empty: the token
  // itself was sent, which no other site can do.
  std::string csrf{};
};

struct AccessOptions {
  std::string tokens_file;
  // Names under which the server may be addressed besides those of loopback: a page of another
  // site that has its name point here (DNS rebinding) is refused.
  std::vector<std::string> hosts{};
  std::optional<app::Token> own{};  // Of whoever started the server; in no file.
};

// Sessions are kept in memory: a restart ends them. Tokens are read anew with each request, so that
// one that was revoked is of no use from then on. For one thread at a time.
class Access {
 public:
  explicit Access(AccessOptions options) : options_{std::move(options)} {}

  // 421 if the request is for another host; 403 if it writes and comes from a page of another site.
  std::optional<Response> refuse_place(const Request& request) const;

  // Whoever the request is from; nothing if it names nobody. 401 for a wrong token or a session
  // that has ended; 403 for a session without its X-CSRF-Token where `writes`.
  struct Asked {
    std::optional<Person> person{};
    std::optional<Response> refused{};
  };
  Asked who(const Request& request, bool writes, Nanos now);

  // For a person who sent a token: a cookie. And its end.
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
  std::map<std::string, Session> sessions_{};  // By the hash of the cookie.
};

}  // namespace amdahl::http
