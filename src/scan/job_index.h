// job_index.h: finds a job by its name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "scan/interner.h"

namespace amdahl::scan {

using JobIndex = std::uint32_t;
inline constexpr JobIndex kNoJob = 0xFFFFFFFF;

// Numbers that are close, as those of one scheduler are, take 4 bytes each.
class JobIndices {
 public:
  JobIndex find(JobName name) const;  // kNoJob if there is none.
  void set(JobName name, JobIndex job);

 private:
  static constexpr std::uint32_t kPage = 16;  // Numbers a page: a line of the cache.
  using Page = std::array<JobIndex, kPage>;
  struct Slot {
    std::uint32_t key = 0;   // Number / kPage.
    std::uint32_t page = 0;  // Index + 1; 0: free.
  };
  std::size_t slot_of(std::uint32_t key) const;
  Page& page_of(std::uint32_t key);
  void grow();

  std::vector<JobIndex> by_word_;  // By WordId.
  std::deque<Page> pages_;
  std::vector<Slot> slots_ = std::vector<Slot>(64);  // Open addressing, a power of two.
};

}  // namespace amdahl::scan
