#include "http_target.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "http/wire.h"

namespace amdahl::fuzz {
namespace {

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

void check_taken(const http::Request& request) {
  CHECK(!request.header("host").empty());
  CHECK(!request.headers.contains("transfer-encoding"));
  const auto length = to_number<std::size_t>(request.header("content-length"));
  CHECK(request.body.size() == length.value_or(0));
  for (const std::string& part : request.path) {
    CHECK(part != "." && part != ".." && !has_control(part));
  }
  for (const auto& [name, value] : request.query) CHECK(!has_control(name) && !has_control(value));
  for (const auto& [name, value] : request.headers) {
    CHECK(lower(name) == name && value.find_first_of("\r\n") == value.npos);
  }
}

}  // namespace

void read_request(std::string_view bytes) {
  const auto whole = http::first_request(bytes, bytes.size());
  const auto pieces = http::first_request(bytes, 7);
  if (whole && whole->request) check_taken(*whole->request);
  const bool taken = whole && whole->request;
  CHECK(taken == (pieces && pieces->request));
  if (!taken) return;
  CHECK(whole->used == pieces->used && whole->used <= bytes.size());
  CHECK(whole->request->headers == pieces->request->headers);
  CHECK(whole->request->body == pieces->request->body);
  CHECK(whole->request->path == pieces->request->path);
  CHECK(whole->request->query == pieces->request->query);
}

}  // namespace amdahl::fuzz
