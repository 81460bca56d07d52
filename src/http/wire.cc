// asio of Boost 1.74 uses std::exchange without including it.
#include "http/wire.h"

#include <algorithm>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <fmt/core.h>

#include "base/text.h"

namespace amdahl::http {
namespace {

namespace bhttp = boost::beast::http;

std::string plain(boost::string_view text) { return {text.data(), text.size()}; }

}  // namespace

void limit(WireParser& parser, std::size_t header_bytes, std::size_t body_bytes) {
  parser.header_limit(static_cast<std::uint32_t>(header_bytes));
  parser.body_limit(body_bytes);
}

Response parse_problem(const boost::system::error_code& error) {
  if (error == bhttp::error::header_limit) {
    return problem(431, "headers too large", "send fewer or shorter headers");
  }
  if (error == bhttp::error::body_limit || error == bhttp::error::buffer_overflow) {
    return problem(413, "body too large", "send less");
  }
  return problem(400, "malformed request", error.message());
}

Result<Request> request_of(const bhttp::request<bhttp::string_body>& message, bool over_tls) {
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

std::optional<FirstRequest> first_request(std::string_view bytes, std::size_t piece) {
  constexpr std::size_t kHeader = 16 << 10;
  constexpr std::size_t kBody = 1 << 20;
  WireParser parser;
  limit(parser, kHeader, kBody);
  parser.eager(true);
  std::size_t used = 0;
  std::size_t seen = 0;
  while (!parser.is_done() && seen < bytes.size()) {
    seen = std::min(seen + std::max<std::size_t>(piece, 1), bytes.size());
    boost::system::error_code error;
    used += parser.put(boost::asio::buffer(bytes.data() + used, seen - used), error);
    if (error == bhttp::error::need_more) continue;
    if (error) return FirstRequest{bad_input(error.message()), used};
  }
  if (!parser.is_done()) return std::nullopt;
  return FirstRequest{request_of(parser.get(), false), used};
}

}  // namespace amdahl::http
