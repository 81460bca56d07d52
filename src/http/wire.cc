#include "http/wire.h"

#include <algorithm>
#include <utility>  // For asio of Boost 1.74, which uses std::exchange.

#include <boost/asio/buffer.hpp>
#include <boost/beast/http.hpp>
#include <fmt/core.h>

#include "base/text.h"

namespace amdahl::http {
namespace {

namespace bhttp = boost::beast::http;

std::string plain(boost::string_view text) { return {text.data(), text.size()}; }

Response problem_of(const boost::system::error_code& error) {
  if (error == bhttp::error::header_limit) {
    return problem(431, "headers too large", "send fewer or shorter headers");
  }
  if (error == bhttp::error::body_limit) return too_large();
  return problem(400, "malformed request", error.message());
}

}  // namespace

struct RequestReader::Parser : bhttp::request_parser<bhttp::string_body> {};

RequestReader::RequestReader(std::size_t header_bytes, std::size_t body_bytes)
    : parser_{std::make_unique<Parser>()} {
  parser_->header_limit(static_cast<std::uint32_t>(header_bytes));
  parser_->body_limit(body_bytes);
  parser_->eager(true);
}

RequestReader::~RequestReader() = default;

std::size_t RequestReader::take(std::string_view bytes) {
  boost::system::error_code error;
  const std::size_t used = parser_->put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  if (error && error != bhttp::error::need_more) problem_ = problem_of(error);
  return used;
}

bool RequestReader::whole() const { return !problem_ && parser_->is_done(); }

bool RequestReader::keeps_alive() const { return parser_->get().keep_alive(); }

Result<Request> RequestReader::request(bool over_tls) const {
  const bhttp::request<bhttp::string_body>& message = parser_->get();
  Request request{.method = plain(message.method_string()), .over_tls = over_tls};
  if (message.version() != 11 && message.version() != 10) return bad_input("HTTP/1.1 is required");
  if (message.count(bhttp::field::transfer_encoding) > 0) {
    return bad_input("send a Content-Length, no Transfer-Encoding");
  }
  for (const auto& field : message) {
    const std::string name = lower(plain(field.name_string()));
    if (!request.headers.emplace(name, plain(field.value())).second && name != "accept") {
      return bad_input(fmt::format("the header '{}' is given twice", clip(name, 40)));
    }
  }
  if (request.header("host").empty()) return bad_input("the header 'host' is missing");
  TRY(parse_target(std::string_view(message.target().data(), message.target().size()), request));
  request.body = message.body();
  return request;
}

Response too_large() { return problem(413, "body too large", "send less"); }

std::string bytes_of(const Response& response, bool keep_alive, Body body) {
  const auto status = static_cast<bhttp::status>(response.status);
  std::string text = fmt::format("HTTP/1.1 {} {}\r\nServer: amdahl\r\n", response.status,
                                 plain(bhttp::obsolete_reason(status)));
  const auto add = [&](std::string_view name, std::string_view value) {
    text += fmt::format("{}: {}\r\n", name, value);
  };
  if (response.status != 304) add("Content-Type", response.type);
  for (const auto& [name, value] : response.headers) add(name, value);
  if (!keep_alive) add("Connection", "close");
  const bool has_length = body != Body::kEndless && response.status != 304;
  if (has_length) add("Content-Length", std::to_string(response.body.size()));
  text += "\r\n";
  if (body == Body::kWhole) text += response.body;
  return text;
}

std::optional<FirstRequest> first_request(std::string_view bytes, std::size_t piece) {
  constexpr std::size_t kHeader = 16 << 10;
  constexpr std::size_t kBody = 1 << 20;
  RequestReader reader(kHeader, kBody);
  std::size_t used = 0;
  std::size_t seen = 0;
  while (!reader.whole() && seen < bytes.size()) {
    seen = std::min(seen + std::max<std::size_t>(piece, 1), bytes.size());
    used += reader.take(bytes.substr(used, seen - used));
    if (reader.problem()) return FirstRequest{bad_input(reader.problem()->body), used};
  }
  if (!reader.whole()) return std::nullopt;
  return FirstRequest{reader.request(false), used};
}

}  // namespace amdahl::http
