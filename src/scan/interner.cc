#include "scan/interner.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace amdahl::scan {
namespace {

constexpr std::size_t kWordBlock = std::size_t{1} << 18;
constexpr unsigned kLong = 0xFF;  // Instead of a length of one byte: one of four follows.

std::uint64_t bytes_at(const char* at, std::size_t size) {
  std::uint64_t bytes = 0;
  if (size >= 8) {
    std::memcpy(&bytes, at, 8);
  } else if (size >= 4) {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::memcpy(&first, at, 4);
    std::memcpy(&last, at + size - 4, 4);
    bytes = std::uint64_t{first} << 32 | last;
  } else if (size > 0) {
    const auto byte = [&](std::size_t i) {
      return std::uint64_t{static_cast<unsigned char>(at[i])};
    };
    bytes = byte(0) << 16 | byte(size / 2) << 8 | byte(size - 1);
  }
  return bytes;
}

// Of all but the last letter, which decides alone where among eight neighbours a word goes: jobs
// come in the order of their numbers, and eight slots are one line of the cache.
std::uint32_t hash_of(std::string_view text) {
  std::size_t left = text.size() - 1;
  std::uint64_t hash = 0x9E3779B97F4A7C15ULL ^ text.size();
  const char* at = text.data();
  const auto mix = [&](std::uint64_t bytes) {
    hash = (hash ^ bytes) * 0xD6E8FEB86659FD93ULL;
    hash ^= hash >> 32;
  };
  for (; left > 8; left -= 8, at += 8) mix(bytes_at(at, 8));
  mix(bytes_at(at, left));
  const auto mixed = static_cast<std::uint32_t>(hash ^ (hash >> 29));
  return (mixed & ~7U) | (static_cast<std::uint32_t>(text.back()) & 7U);
}

// 1 to 9 digits that a number would be written with; else 0.
std::uint32_t number_in(std::string_view text) {
  if (text.empty() || text.size() > 9 || text.front() == '0') return 0;
  std::uint32_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return 0;
    number = number * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return number;
}

}  // namespace

Interner::Interner() : words_{"\0"}, slots_(64), often_(4096) {}

std::size_t Interner::slot_of(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot].word != 0) {
    if (slots_[slot].hash == hash && (*this)[slots_[slot].word] == text) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

WordId Interner::intern_often(std::string_view text) {
  if (text.empty()) return 0;
  const std::uint32_t hash = hash_of(text);
  Slot& known = often_[(hash ^ hash >> 16) % often_.size()];
  if (known.word != 0 && known.hash == hash && (*this)[known.word] == text) return known.word;
  known = {hash, intern(text, hash)};
  return known.word;
}

WordId Interner::intern(std::string_view text) {
  return text.empty() ? 0 : intern(text, hash_of(text));
}

WordId Interner::intern(std::string_view text, std::uint32_t hash) {
  std::size_t slot = slot_of(text, hash);
  if (slots_[slot].word != 0) return slots_[slot].word;
  if (words_.size() * 3 > slots_.size() * 2) {
    grow();
    slot = slot_of(text, hash);
  }
  CHECK(words_.size() < kNumberBit && text.size() <= std::size_t{0xFFFFFFFF});
  const auto id = static_cast<WordId>(words_.size());
  words_.push_back(keep(text));
  slots_[slot] = {hash, id};
  return id;
}

WordId Interner::find(std::string_view text) const {
  return text.empty() ? 0 : slots_[slot_of(text, hash_of(text))].word;
}

JobName Interner::intern_job(std::string_view text) {
  const std::uint32_t number = number_in(text);
  return JobName{number > 0 ? kNumberBit | number : intern(text)};
}

JobName Interner::find_job(std::string_view text) const {
  const std::uint32_t number = number_in(text);
  return JobName{number > 0 ? kNumberBit | number : find(text)};
}

std::string Interner::operator[](JobName job) const {
  const auto value = static_cast<std::uint32_t>(job);
  if ((value & kNumberBit) != 0) return std::to_string(value & ~kNumberBit);
  return std::string((*this)[value]);
}

std::string_view Interner::operator[](WordId word) const {
  CHECK(word < words_.size());
  const char* text = words_[word];
  const auto brief = static_cast<unsigned char>(*text++);
  if (brief != kLong) return {text, brief};
  std::uint32_t size = 0;
  std::memcpy(&size, text, sizeof size);
  return {text + sizeof size, size};
}

void Interner::grow() {
  std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& known : old) {
    if (known.word == 0) continue;
    std::size_t slot = known.hash & mask;
    while (slots_[slot].word != 0) slot = (slot + 1) & mask;
    slots_[slot] = known;
  }
}

const char* Interner::keep(std::string_view text) {
  const bool is_brief = text.size() < kLong;
  const std::size_t before = is_brief ? 1 : 1 + sizeof(std::uint32_t);
  if (before + text.size() > left_) {
    const std::size_t size = std::max(kWordBlock, before + text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    next_ = blocks_.back().get();
    left_ = size;
  }
  char* kept = next_;
  const auto size = static_cast<std::uint32_t>(text.size());
  *kept = static_cast<char>(is_brief ? size : kLong);
  if (!is_brief) std::memcpy(kept + 1, &size, sizeof size);
  std::memcpy(kept + before, text.data(), text.size());
  next_ += before + text.size();
  left_ -= before + text.size();
  return kept;
}

}  // namespace amdahl::scan
