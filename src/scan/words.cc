#include "scan/words.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace amdahl::scan {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;

// Eight bytes a step; a multiply and a fold mix well enough for a table of words.
std::uint32_t hash_of(std::string_view text) {
  std::uint64_t hash = 0x9E3779B97F4A7C15ULL ^ text.size();
  const char* at = text.data();
  std::size_t left = text.size();
  const auto mix = [&](std::uint64_t bytes) {
    hash = (hash ^ bytes) * 0xD6E8FEB86659FD93ULL;
    hash ^= hash >> 32;
  };
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, at, 8);
    mix(bytes);
  }
  if (left > 0) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, at, left);
    mix(bytes);
  }
  return static_cast<std::uint32_t>(hash ^ (hash >> 29));
}

}  // namespace

Words::Words() : words_(1), slots_(64) {}

std::size_t Words::slot_of(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot].word != 0) {
    if (slots_[slot].hash == hash && (*this)[slots_[slot].word] == text) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

WordId Words::intern(std::string_view text) {
  if (text.empty()) return 0;
  const std::uint32_t hash = hash_of(text);
  std::size_t slot = slot_of(text, hash);
  if (slots_[slot].word != 0) return slots_[slot].word;
  if (words_.size() * 2 > slots_.size()) {
    grow();
    slot = slot_of(text, hash);
  }
  CHECK(words_.size() < std::size_t{0xFFFFFFFF} && text.size() <= std::size_t{0xFFFFFFFF});
  const auto id = static_cast<WordId>(words_.size());
  words_.push_back({keep(text), static_cast<std::uint32_t>(text.size())});
  slots_[slot] = {hash, id};
  return id;
}

WordId Words::find(std::string_view text) const {
  return text.empty() ? 0 : slots_[slot_of(text, hash_of(text))].word;
}

std::string_view Words::operator[](WordId word) const {
  CHECK(word < words_.size());
  return {words_[word].text, words_[word].size};
}

void Words::grow() {
  std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& known : old) {
    if (known.word == 0) continue;
    std::size_t slot = known.hash & mask;
    while (slots_[slot].word != 0) slot = (slot + 1) & mask;
    slots_[slot] = known;
  }
}

const char* Words::keep(std::string_view text) {
  if (text.size() > left_) {
    const std::size_t size = std::max(kBlock, text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    next_ = blocks_.back().get();
    left_ = size;
  }
  char* kept = next_;
  std::memcpy(kept, text.data(), text.size());
  next_ += text.size();
  left_ -= text.size();
  return kept;
}

}  // namespace amdahl::scan
