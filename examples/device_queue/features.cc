#include "device_queue/features.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace device_queue {
namespace {

constexpr int kRecordLetters = 2400;

std::uint64_t mix(std::uint64_t& state) {  // splitmix64
  std::uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

void make_record(int index, std::string& text) {
  // Letters are not alike in real text; this one has the common ones more often.
  constexpr char kLetters[] = "eeettaaooiinnsshhrrddlluccmmffwyygppbvkxjqz  ..eta oinshr  lu  cm";
  std::uint64_t state = 0x5eed0000 + static_cast<std::uint64_t>(index);
  text.resize(kRecordLetters);
  for (std::size_t i = 0; i < text.size(); i += 8) {
    std::uint64_t bits = mix(state);
    for (std::size_t j = i; j < std::min(i + 8, text.size()); ++j, bits >>= 8) {
      text[j] = kLetters[bits & 63];
    }
  }
}

void hash_features(const std::string& text, std::span<float> features) {
  std::array<int, kFeatures> counts{};
  for (std::size_t start = 0; start + 5 <= text.size(); ++start) {
    std::uint32_t hash = 2166136261;  // FNV-1a
    for (std::size_t length = 1; length <= 5; ++length) {
      hash = (hash ^ static_cast<unsigned char>(text[start + length - 1])) * 16777619;
      if (length >= 3) {
        const std::uint32_t spread = hash ^ (hash >> 15);
        counts[spread % kFeatures] += (spread & 0x10000) != 0 ? 1 : -1;
      }
    }
  }
  std::ranges::transform(counts, features.begin(),
                         [](int count) { return static_cast<float>(std::clamp(count, -8, 7)); });
}

}  // namespace device_queue
