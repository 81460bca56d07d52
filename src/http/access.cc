#include "http/access.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/document.h"
#include "base/hash.h"
#include "base/text.h"

namespace amdahl::http {
namespace {

constexpr Nanos kSessionLasts = std::chrono::hours(12);
constexpr std::size_t kMostSessions = 1000;

Response refuse(std::string_view why) {
  Response response = problem(401, "authentication required", why);
  response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"amdahl\"");
  return response;
}

// "name:8300" and "[::1]:8300" without their port.
std::string_view without_port(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const bool is_port = colon != std::string_view::npos && host.find(']', colon) == host.npos &&
                       std::ranges::all_of(host.substr(colon + 1), is_digit);
  return is_port ? host.substr(0, colon) : host;
}

Json session_document(const app::Token& token, std::string_view csrf) {
  return api::document({{"name", token.name},
                        {"role", app::name(token.role)},
                        {"csrf", csrf.empty() ? Json() : Json(csrf)}});
}

}  // namespace

std::optional<Response> Access::refuse_place(const Request& request) const {
  constexpr std::array<std::string_view, 3> kLoopback = {"localhost", "127.0.0.1", "[::1]"};
  const std::string_view host = request.header("host");
  const std::string named = lower(without_port(host));
  if (std::ranges::find(kLoopback, named) == kLoopback.end() &&
      std::ranges::find(options_.hosts, named) == options_.hosts.end()) {
    return problem(421, "wrong host",
                   fmt::format("this server does not answer for '{}'; allow the name with: amdahl "
                               "serve --allow-host NAME",
                               clip(named, 60)));
  }
  const std::string_view origin = request.header("origin");
  if (origin.empty() || request.method == "GET" || request.method == "HEAD") return std::nullopt;
  // A proxy in front may speak TLS where we do not.
  const std::string from = lower(origin);
  const std::string here = lower(host);
  if (from == "https://" + here || (!request.over_tls && from == "http://" + here)) {
    return std::nullopt;
  }
  return problem(403, "wrong origin", "requests that change something must come from this site");
}

Result<std::vector<app::Token>> Access::tokens() const {
  std::vector<app::Token> all = TRY(app::TokenFile(options_.tokens_file).read());
  if (options_.own) all.push_back(*options_.own);
  return all;
}

// The prefix makes browsers refuse one that another host of the domain set.
std::string Access::cookie_name(const Request& request) const {
  return request.over_tls ? "__Host-amdahl" : "amdahl";
}

std::string Access::session_key(const Request& request) const {
  const std::string start = cookie_name(request) + "=";
  for (std::string_view cookie : split(request.header("cookie"), ';')) {
    cookie = trim(cookie);
    if (cookie.starts_with(start)) return sha256_hex(cookie.substr(start.size()));
  }
  return "";
}

Access::Asked Access::who(const Request& request, bool writes, Nanos now) {
  const auto known = tokens();
  if (!known) return {.refused = problem(known.error())};
  const std::string_view authorization = request.header("authorization");
  if (!authorization.empty()) {
    constexpr std::string_view kBearer = "bearer ";
    const app::Token* token = nullptr;
    if (lower(authorization.substr(0, kBearer.size())) == kBearer) {
      token = app::token_for(*known, trim(authorization.substr(kBearer.size())), now);
    }
    if (!token) return {.refused = refuse("the token is wrong, was revoked or has expired")};
    return {.person = Person{token->name, token->role, token->id}};
  }
  const std::string key = session_key(request);
  if (key.empty()) return {};
  const auto session = sessions_.find(key);
  if (session == sessions_.end()) return {.refused = refuse("the session has ended: log in again")};
  const auto token = std::ranges::find(*known, session->second.token, &app::Token::id);
  const bool alive = token != known->end() && now < session->second.expires &&
                     (token->expires == Nanos{} || now < token->expires);
  if (!alive) {
    sessions_.erase(session);
    return {.refused = refuse("the session has ended: log in again")};
  }
  if (writes && (request.header("x-csrf-token") != session->second.csrf ||
                 request.header("origin").empty())) {
    return {.refused =
                problem(403, "not from our page",
                        "send the session's csrf as X-CSRF-Token, from a page of this site")};
  }
  return {.person = Person{token->name, token->role, token->id, session->second.csrf}};
}

Response Access::log_in(const Request& request, Nanos now) {
  const auto known = tokens();
  if (!known) return problem(known.error());
  const auto body = parse_json(request.body);
  const bool fits = body && body->is_object() && body->size() == 1 && body->contains("token") &&
                    (*body)["token"].is_string();
  if (!fits) return problem(400, "wrong request", "expected {\"token\": TEXT}");
  const app::Token* token =
      app::token_for(*known, trim((*body)["token"].get_ref<const std::string&>()), now);
  if (!token) return refuse("the token is wrong, was revoked or has expired");
  std::erase_if(sessions_, [&](const auto& row) { return row.second.expires <= now; });
  if (sessions_.size() >= kMostSessions) {
    return problem(503, "busy", "too many sessions; log out elsewhere or restart the server");
  }
  const std::string cookie = app::random_key();
  Session session{token->id, app::random_key(), now + kSessionLasts};
  Response response = json_response(session_document(*token, session.csrf));
  response.headers.emplace_back(
      "Set-Cookie",
      fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}{}", cookie_name(request),
                  cookie, std::chrono::duration_cast<std::chrono::seconds>(kSessionLasts).count(),
                  request.over_tls ? "; Secure" : ""));
  sessions_.insert_or_assign(sha256_hex(cookie), std::move(session));
  return response;
}

Response Access::log_out(const Request& request) {
  sessions_.erase(session_key(request));
  Response response = json_response(api::document({{"outcome", "logged out"}}));
  response.headers.emplace_back(
      "Set-Cookie", fmt::format("{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0{}",
                                cookie_name(request), request.over_tls ? "; Secure" : ""));
  return response;
}

}  // namespace amdahl::http
