// wire.h: requests and responses as the bytes of a connection.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace amdahl::http {

// Reads one request from bytes that come in pieces.
class RequestReader {
 public:
  RequestReader(std::size_t header_bytes, std::size_t body_bytes);
  ~RequestReader();

  // Takes bytes from the front and returns how many. The rest must be offered again with more
  // behind it, unless the request is whole() or there is a problem().
  std::size_t take(std::string_view bytes);
  bool whole() const;
  const std::optional<Response>& problem() const { return problem_; }  // Why it is no request.

  // Of a whole request: kBadInput for what two programs could read in two ways.
  Result<Request> request(bool over_tls) const;
  bool keeps_alive() const;

 private:
  struct Parser;  // Boost's, which takes long to compile: wire.cc alone sees it.
  std::unique_ptr<Parser> parser_;
  std::optional<Response> problem_;
};

// What does not fit into the buffer of a connection.
Response too_large();

// Status line and headers, and the body unless it answers HEAD. An endless response has no length.
enum class Body { kWhole, kLeftOut, kEndless };
std::string bytes_of(const Response& response, bool keep_alive, Body body);

// For tests: the first request in these bytes, taken in pieces of this size. Nothing if it is not
// whole. `used`: its bytes.
struct FirstRequest {
  Result<Request> request;
  std::size_t used = 0;
};
std::optional<FirstRequest> first_request(std::string_view bytes, std::size_t piece);

}  // namespace amdahl::http
