#include "http/assets.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

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
  if (!contains(request.header("accept-encoding"), "gzip")) {
    return problem(406, "not acceptable", "the page is gzipped: send Accept-Encoding: gzip");
  }
  const bool never_changes = path.starts_with("/assets/");  // Its name has the hash of its bytes.
  return {.type = file->type,
          .body = std::string(file->bytes),
          .headers = {{"Content-Encoding", "gzip"},
                      {"Vary", "Accept-Encoding"},
                      {"Cache-Control",
                       never_changes ? "public, max-age=31536000, immutable" : "no-cache"}}};
}

}  // namespace amdahl::http
