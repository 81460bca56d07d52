#include "model/string_pool.h"

#include <cstring>
#include <functional>
#include <string_view>

namespace amdahl::model {
namespace {

constexpr std::size_t kBlock = 64 * 1024;
constexpr std::size_t kFirstSlots = 1024;  // A power of two, as all sizes after it.

std::uint64_t hash_of(std::string_view text) { return std::hash<std::string_view>{}(text); }

}  // namespace

StringPool::StringPool() : texts_{std::string_view{}}, hashes_{0}, slots_(kFirstSlots, 0) {}

std::uint32_t StringPool::intern(std::string_view text) {
  if (text.empty()) return 0;
  const std::uint64_t hash = hash_of(text);
  const std::size_t slot = slot_of(text, hash);
  if (slots_[slot] != 0) return slots_[slot];
  const auto number = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back(keep(text));
  hashes_.push_back(hash);
  slots_[slot] = number;
  if (texts_.size() * 2 > slots_.size()) grow();
  return number;
}

std::uint32_t StringPool::find(std::string_view text) const {
  return text.empty() ? 0 : slots_[slot_of(text, hash_of(text))];
}

// The slot of the text, or the free one where it would go.
std::size_t StringPool::slot_of(std::string_view text, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot] != 0) {
    const std::uint32_t number = slots_[slot];
    if (hashes_[number] == hash && texts_[number] == text) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

void StringPool::grow() {
  slots_.assign(slots_.size() * 2, 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::uint32_t number = 1; number < size(); ++number) {
    std::size_t slot = hashes_[number] & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = number;
  }
}

std::string_view StringPool::keep(std::string_view text) {
  if (text.size() > kBlock / 4) {
    // A long text gets its own block.
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(text.size()));
    std::memcpy(blocks_.back().get(), text.data(), text.size());
    return {blocks_.back().get(), text.size()};
  }
  if (block_left_ < text.size()) {
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(kBlock));
    block_next_ = blocks_.back().get();
    block_left_ = kBlock;
  }
  char* const place = block_next_;
  std::memcpy(place, text.data(), text.size());
  block_next_ += text.size();
  block_left_ -= text.size();
  return {place, text.size()};
}

}  // namespace amdahl::model
