#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "profile/hta_rows.h"

namespace amdahl::profile {
namespace {

using Index = std::ptrdiff_t;

// The steps of numpy's aquicksort, which decide where equal keys end up.
class Introsort {
 public:
  explicit Introsort(const std::vector<double>& keys) : keys_(keys), order_(keys.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  std::vector<std::size_t> sort() && {
    const std::size_t count = keys_.size();
    if (count < 2) return std::move(order_);
    const int depth = 2 * (static_cast<int>(std::bit_width(count)) - 1);
    todo_.push_back({0, static_cast<Index>(count) - 1, depth});
    while (!todo_.empty()) {
      const Part part = todo_.back();
      todo_.pop_back();
      if (part.depth < 0) {
        heap_sort(part.low, part.high - part.low + 1);
      } else {
        quick_sort(part);
      }
    }
    return std::move(order_);
  }

 private:
  struct Part {
    Index low = 0;
    Index high = 0;
    int depth = 0;
  };

  std::size_t& at(Index place) { return order_[static_cast<std::size_t>(place)]; }
  double key(Index place) { return keys_[at(place)]; }

  void quick_sort(Part part) {
    constexpr Index kSmall = 15;  // kQuickSmall.
    while (part.high - part.low > kSmall) {
      const Index pivot = partition(part.low, part.high);
      --part.depth;
      if (pivot - part.low < part.high - pivot) {
        todo_.push_back({pivot + 1, part.high, part.depth});
        part.high = pivot - 1;
      } else {
        todo_.push_back({part.low, pivot - 1, part.depth});
        part.low = pivot + 1;
      }
    }
    // An insertion sort, which keeps the order of equals as a stable sort does.
    if (part.high <= part.low) return;
    std::stable_sort(order_.begin() + part.low, order_.begin() + part.high + 1,
                     [&](std::size_t a, std::size_t b) { return keys_[a] < keys_[b]; });
  }

  // Where the pivot of [low, high] ends up.
  Index partition(Index low, Index high) {
    const Index middle = low + ((high - low) >> 1);
    if (key(middle) < key(low)) std::swap(at(middle), at(low));
    if (key(high) < key(middle)) std::swap(at(high), at(middle));
    if (key(middle) < key(low)) std::swap(at(middle), at(low));
    const double pivot = key(middle);
    Index i = low;
    Index j = high - 1;
    std::swap(at(middle), at(j));
    while (true) {
      do ++i;
      while (key(i) < pivot);
      do --j;
      while (pivot < key(j));
      if (i >= j) break;
      std::swap(at(i), at(j));
    }
    std::swap(at(i), at(high - 1));
    return i;
  }

  // aheapsort, where quicksort went too deep. Places count from 1.
  void heap_sort(Index low, Index count) {
    const Index base = low - 1;
    for (Index top = count >> 1; top > 0; --top) sift(base, top, count, at(base + top));
    while (count > 1) {
      const std::size_t last = at(base + count);
      at(base + count) = at(base + 1);
      --count;
      sift(base, 1, count, last);
    }
  }

  // Puts `item` into the heap of `count` at `hole` or below.
  void sift(Index base, Index hole, Index count, std::size_t item) {
    for (Index child = hole * 2; child <= count; child *= 2) {
      if (child < count && key(base + child) < key(base + child + 1)) ++child;
      if (!(keys_[item] < key(base + child))) break;
      at(base + hole) = at(base + child);
      hole = child;
    }
    at(base + hole) = item;
  }

  const std::vector<double>& keys_;
  std::vector<std::size_t> order_;
  std::vector<Part> todo_;
};

}  // namespace

std::vector<std::size_t> numpy_order(const std::vector<double>& keys) {
  return Introsort(keys).sort();
}

}  // namespace amdahl::profile
