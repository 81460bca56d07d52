#include "fleet/slurm/jobstats.h"

#include <string>

#include <simdjson.h>

#include "base/text.h"
#include "bytes/unpack.h"

namespace amdahl::fleet::slurm {
namespace {

constexpr std::size_t kLargest = std::size_t{16} << 20;

std::string from_base64(std::string_view text) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned held = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    const std::size_t value = kLetters.find(c);
    if (value == kLetters.npos) return {};
    held = (held << 6 | static_cast<unsigned>(value)) & 0xFFFFFFU;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(held >> bits & 0xFFU);
  }
  return bytes;
}

std::string unpacked(std::string_view bytes) {
  std::string whole;
  if (bytes::packing_of(bytes) != bytes::Packing::kGzip) return whole;
  const auto unpacker = bytes::Unpacker::make(bytes::Packing::kGzip);
  const auto done = unpacker->feed(bytes, [&](std::string_view some) -> Result<> {
    whole += some;
    return whole.size() <= kLargest ? Result<>(Ok{}) : bad_input("is too large for a summary");
  });
  return done && unpacker->is_whole() ? whole : std::string();
}

}  // namespace

std::optional<double> mean_of_summary(std::string_view admin_comment) {
  constexpr std::string_view kMark = "JS1:";
  const std::size_t mark = admin_comment.find(kMark);
  if (mark == admin_comment.npos) return std::nullopt;
  std::string_view text = admin_comment.substr(mark + kMark.size());
  text = text.substr(0, text.find_first_of(" ,;\"'}"));
  const std::string json = unpacked(from_base64(text));
  simdjson::dom::parser parser;
  simdjson::dom::object nodes;
  if (json.empty() || parser.parse(json)["nodes"].get(nodes) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  double sum = 0;
  int count = 0;
  for (const auto& [host, node] : nodes) {
    simdjson::dom::object gpus;
    if (node["gpu_utilization"].get(gpus) != simdjson::SUCCESS) continue;
    for (const auto& [gpu, value] : gpus) {
      double percent = 0;
      if (value.get(percent) != simdjson::SUCCESS || !(percent >= 0 && percent <= 100)) continue;
      sum += percent;
      ++count;
    }
  }
  if (count == 0) return std::nullopt;
  return sum / (100.0 * count);
}

}  // namespace amdahl::fleet::slurm
