#include "trace/kineto/window.h"

#include <cstring>

#include <fmt/format.h>

namespace amdahl::trace::kineto {

std::uint32_t PairPool::intern(std::int64_t first, std::int64_t second) {
  const std::pair both(first, second);
  if (last_number_ != 0 && both == last_) return last_number_;
  char key[16];
  std::memcpy(key, &first, 8);
  std::memcpy(key + 8, &second, 8);
  last_ = both;
  last_number_ = pool_.intern({key, sizeof key});
  return last_number_;
}

std::pair<std::int64_t, std::int64_t> PairPool::operator[](std::uint32_t number) const {
  std::pair<std::int64_t, std::int64_t> both;
  const std::string_view key = pool_[number];
  if (key.size() != 16) return both;
  std::memcpy(&both.first, key.data(), 8);
  std::memcpy(&both.second, key.data() + 8, 8);
  return both;
}

void Window::note_long(std::uint64_t begin, std::uint64_t end) {
  long_events.push_back({begin, end});
}

void Window::lose(model::LossKind kind, std::uint64_t offset, std::string_view what) {
  const auto at = static_cast<std::size_t>(kind);
  if (lost[at]++ != 0) return;
  std::string shown(what.substr(0, 80));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    if (static_cast<unsigned char>(c) > 0x7E) c = '?';
  }
  examples[at] = fmt::format("byte {}: {}", offset, shown);
}

}  // namespace amdahl::trace::kineto
