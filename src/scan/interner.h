// interner.h: stores each distinct string of a scan once, with a small id.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::scan {

using WordId = std::uint32_t;  // 0 is the empty word.
// The id of a job as its scheduler writes it. A whole number is kept in the value itself, so that
// millions of them take no memory.
enum class JobName : std::uint32_t { kNone = 0 };
inline constexpr std::uint32_t kNumberBit = 0x80000000;  // Set: the rest is the number itself.

// Ids are in order of first use. Movable; views stay valid during its lifetime and over moves.
class Interner {
 public:
  Interner();

  WordId intern(std::string_view text);
  // The same, faster for words that repeat often among millions that do not.
  WordId intern_often(std::string_view text);
  // The id of a known word, else 0.
  WordId find(std::string_view text) const;
  std::string_view operator[](WordId word) const;
  std::size_t size() const { return words_.size(); }

  JobName intern_job(std::string_view text);
  JobName find_job(std::string_view text) const;  // kNone if unknown and not a number.
  std::string operator[](JobName job) const;

 private:
  // The hash beside the id, so that looking for a word that is not there touches no other memory.
  struct Slot {
    std::uint32_t hash = 0;
    WordId word = 0;  // 0: free.
  };

  WordId intern(std::string_view text, std::uint32_t hash);
  std::size_t slot_of(std::string_view text, std::uint32_t hash) const;
  void grow();
  const char* keep(std::string_view text);

  std::vector<const char*> words_;  // The length, then the text.
  std::vector<Slot> slots_;         // Open addressing, a power of two.
  std::vector<Slot> often_;         // By hash, the last of each: small enough for a cache.
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t left_ = 0;  // In the last block.
  char* next_ = nullptr;
};

}  // namespace amdahl::scan
