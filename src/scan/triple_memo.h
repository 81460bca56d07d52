// triple_memo.h: caches a value per triple of numbers, for millions that repeat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace amdahl::scan {

// Three numbers that determine something about a job.
struct Triple {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  std::uint32_t third = 0;

  friend bool operator==(const Triple&, const Triple&) = default;
};

inline std::uint64_t hash_of(const Triple& triple) {
  const auto mix = [](std::uint64_t value) {  // MurmurHash3 finaliser.
    value = (value ^ (value >> 33)) * 0xff51afd7ed558ccdU;
    value = (value ^ (value >> 33)) * 0xc4ceb9fe1a85ec53U;
    return value ^ (value >> 33);
  };
  return mix(mix(std::uint64_t{triple.first} << 32 | triple.second) ^ triple.third);
}

// Open addressing: ten million jobs must not cost an allocation each.
class TripleMemo {
 public:
  // The cached value; computed by `say` if new.
  template <class Say>
  std::uint32_t of(const Triple& triple, Say say) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place_of(triple)];
    if (!slot.taken) {
      slot = {.triple = triple, .said = say(), .taken = true};
      ++used_;
    }
    return slot.said;
  }
  // Its index in order of first use.
  std::uint32_t number_of(const Triple& triple) {
    return of(triple, [&] { return static_cast<std::uint32_t>(used_); });
  }
  std::size_t size() const { return used_; }

 private:
  struct Slot {
    Triple triple;
    std::uint32_t said = 0;
    bool taken = false;
  };

  std::size_t place_of(const Triple& triple) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash_of(triple) & mask;
    while (slots_[at].taken && slots_[at].triple != triple) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    std::vector<Slot> before(slots_.empty() ? 1024 : 2 * slots_.size());
    before.swap(slots_);
    for (const Slot& slot : before) {
      if (slot.taken) slots_[place_of(slot.triple)] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace amdahl::scan
