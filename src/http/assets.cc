#include "http/assets.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include <zlib.h>

#include "base/check.h"
#include "base/embedded.h"
#include "base/json.h"
#include "base/text.h"

namespace amdahl {
std::span<const Embedded> embedded_dashboard();
}

namespace amdahl::http {
namespace {

struct Asset {
  std::string path;
  std::string type;
  std::string_view bytes;  // Gzipped.
};

// As web/pack.mjs writes it: a line of JSON that lists the files, then their bytes.
std::vector<Asset> unpack(std::string_view packed) {
  std::vector<Asset> assets;
  const std::size_t line = packed.find('\n');
  const auto list = parse_json(packed.substr(0, line));
  CHECK(list && list->is_array());
  packed.remove_prefix(line + 1);
  for (const Json& file : *list) {
    const auto size = file.at("size").get<std::size_t>();
    assets.push_back({file.at("path"), file.at("type"), packed.substr(0, size)});
    packed.remove_prefix(size);
  }
  return assets;
}

const std::vector<Asset>& assets() {
  static const std::vector<Asset> kAssets = unpack(embedded_dashboard().front().bytes);
  return kAssets;
}

// "gzip;q=0" refuses it. A client that sends no such header may take anything, but most that do not
// (curl, health checks) expect plain bytes.
bool takes_gzip(std::string_view accepts) {
  for (const std::string_view one : split(accepts, ',')) {
    const std::vector<std::string_view> parts = split(one, ';');
    const std::string name = lower(trim(parts.front()));
    if (name != "gzip" && name != "*") continue;
    const std::string_view q = parts.size() > 1 ? trim(parts[1]) : "";
    return !(q.starts_with("q=0") && q.find_first_of("123456789") == q.npos);
  }
  return false;
}

// Our own bytes: they are whole.
std::string unzip(std::string_view packed) {
  constexpr int kGzip = 15 + 16;
  z_stream stream{};
  CHECK(inflateInit2(&stream, kGzip) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string plain;
  std::array<char, 1 << 16> block{};
  int result = Z_OK;
  while (result == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = static_cast<uInt>(block.size());
    result = inflate(&stream, Z_NO_FLUSH);
    plain.append(block.data(), block.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  CHECK(result == Z_STREAM_END);
  return plain;
}

}  // namespace

Response asset(const Request& request) {
  if (assets().empty()) {
    return problem(404, "not found",
                   "this build has no dashboard (run ./script/bootstrap and build again); the API "
                   "is described in /api/v1/openapi.json");
  }
  const std::string path = request.shown_path();
  auto file = std::ranges::find(assets(), path, &Asset::path);
  const bool is_page = file == assets().end();
  if (is_page) {
    // A missing file or API path must not return the page.
    const std::string& last = request.path.back();
    if (last.find('.') != std::string::npos || request.path.front() == "api") {
      return problem(404, "not found", "see /api/v1/openapi.json");
    }
    file = std::ranges::find(assets(), "/index.html", &Asset::path);
  }
  const bool never_changes = path.starts_with("/assets/");  // Its name has the hash of its bytes.
  Response response{
      .type = file->type,
      .body = std::string(file->bytes),
      .headers = {
          {"Vary", "Accept-Encoding"},
          {"Cache-Control", never_changes ? "public, max-age=31536000, immutable" : "no-cache"}}};
  if (takes_gzip(request.header("accept-encoding"))) {
    response.headers.emplace_back("Content-Encoding", "gzip");
  } else {
    response.body = unzip(file->bytes);
  }
  return response;
}

}  // namespace amdahl::http
