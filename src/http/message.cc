#include "http/message.h"

#include <array>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace amdahl::http {
namespace {

struct Failure {
  Error::Kind kind;
  int status;
  std::string_view title;
};

constexpr auto kFailures = std::to_array<Failure>({
    {Error::Kind::kBadInput, 400, "wrong request"},
    {Error::Kind::kNotFound, 404, "not found"},
    {Error::Kind::kUnsupported, 501, "cannot be done here"},
    {Error::Kind::kExternal, 500, "failed"},
    {Error::Kind::kConflict, 409, "conflict"},
    {Error::Kind::kBudget, 409, "budget exhausted"},
    {Error::Kind::kBusy, 503, "busy"},
});

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && plus_is_space) c = ' ';
    if (c == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return bad_input("the address has a bad % escape");
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return bad_input("the address has a control character");
    }
    out += c;
  }
  return out;
}

}  // namespace

std::string_view Request::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string_view() : found->second;
}

std::string Request::shown_path() const { return "/" + join(path, "/"); }

Result<> parse_target(std::string_view target, Request& request) {
  const std::size_t mark = target.find('?');
  if (!target.starts_with('/')) return bad_input("the address must begin with /");
  for (const std::string_view part : split(target.substr(0, mark).substr(1), '/')) {
    request.path.push_back(TRY(decode(part, false)));
    if (request.path.back() == "." || request.path.back() == "..") {
      return bad_input("the address leaves its folder");
    }
  }
  if (mark == std::string_view::npos) return Ok{};
  for (const std::string_view part : split(target.substr(mark + 1), '&')) {
    if (part.empty()) continue;
    const std::size_t equal = std::min(part.find('='), part.size());
    std::string name = TRY(decode(part.substr(0, equal), true));
    std::string value = TRY(decode(part.substr(std::min(equal + 1, part.size())), true));
    if (!request.query.emplace(name, std::move(value)).second) {
      return bad_input(fmt::format("the parameter '{}' is given twice", name));
    }
  }
  return Ok{};
}

Response json_response(const Json& document) { return {.body = dump_json(document) + "\n"}; }

Response problem(int status, std::string_view title, std::string_view detail) {
  return {
      .status = status,
      .type = "application/problem+json",
      .body =
          dump_json(
              {{"type", "about:blank"}, {"title", title}, {"status", status}, {"detail", detail}}) +
          "\n"};
}

Response problem(const Error& error) {
  for (const Failure& row : kFailures) {
    if (row.kind == error.kind) return problem(row.status, row.title, error.text);
  }
  return problem(500, "failed", error.text);
}

}  // namespace amdahl::http
