// wire.h: a request as it came over a connection, into plain data.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/beast/http.hpp>

#include "base/result.h"
#include "http/message.h"

namespace amdahl::http {

using WireParser = boost::beast::http::request_parser<boost::beast::http::string_body>;
void limit(WireParser& parser, std::size_t header_bytes, std::size_t body_bytes);

// What a parser's error means to the client.
Response parse_problem(const boost::system::error_code& error);

// The parsed message; kBadInput for what two programs could read in two ways.
Result<Request> request_of(
    const boost::beast::http::request<boost::beast::http::string_body>& message, bool over_tls);

// The same from bytes, for tests: the first request in them, fed in pieces of this size. Nothing
// if it is not whole. `used`: its bytes.
struct FirstRequest {
  Result<Request> request;
  std::size_t used = 0;
};
std::optional<FirstRequest> first_request(std::string_view bytes, std::size_t piece);

}  // namespace amdahl::http
