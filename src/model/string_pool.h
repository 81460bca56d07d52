// string_pool.h: interns texts: each distinct text is stored once and gets a small number.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace amdahl::model {

// Number 0 is the empty text. Views stay valid as long as the pool, also after a move. Not
// thread-safe.
class StringPool {
 public:
  StringPool();

  std::uint32_t intern(std::string_view text);

  // The number of a text in the pool; 0 if it is not there.
  std::uint32_t find(std::string_view text) const;

  std::string_view operator[](std::uint32_t number) const { return texts_[number]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(texts_.size()); }

 private:
  std::string_view keep(std::string_view text);
  std::size_t slot_of(std::string_view text, std::uint64_t hash) const;
  void grow();

  std::vector<std::string_view> texts_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> slots_;  // Open addressing: number, or 0 for free.
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t block_left_ = 0;
  char* block_next_ = nullptr;
};

}  // namespace amdahl::model
