#include "scan/job_index.h"

namespace amdahl::scan {
namespace {

bool is_number(JobName name) { return (static_cast<std::uint32_t>(name) & kNumberBit) != 0; }
std::uint32_t value_of(JobName name) { return static_cast<std::uint32_t>(name) & ~kNumberBit; }

}  // namespace

std::size_t JobIndices::slot_of(std::uint32_t key) const {
  const std::size_t mask = slots_.size() - 1;
  // Neighbours stay neighbours: 8 keys, 128 jobs, share a line of the cache.
  std::size_t at = (key / 8 * 0x9E3779B1U * 8 + key % 8) & mask;
  while (slots_[at].page != 0 && slots_[at].key != key) at = (at + 1) & mask;
  return at;
}

JobIndex JobIndices::find(JobName name) const {
  const std::uint32_t value = value_of(name);
  if (!is_number(name)) return value < by_word_.size() ? by_word_[value] : kNoJob;
  const Slot& slot = slots_[slot_of(value / kPage)];
  return slot.page == 0 ? kNoJob : pages_[slot.page - 1][value % kPage];
}

void JobIndices::set(JobName name, JobIndex job) {
  const std::uint32_t value = value_of(name);
  if (is_number(name)) {
    page_of(value / kPage)[value % kPage] = job;
    return;
  }
  if (by_word_.size() <= value) by_word_.resize(std::size_t{value} + 1, kNoJob);
  by_word_[value] = job;
}

JobIndices::Page& JobIndices::page_of(std::uint32_t key) {
  if (3 * (pages_.size() + 1) > 2 * slots_.size()) grow();
  Slot& slot = slots_[slot_of(key)];
  if (slot.page == 0) {
    pages_.emplace_back().fill(kNoJob);
    slot = {key, static_cast<std::uint32_t>(pages_.size())};
  }
  return pages_[slot.page - 1];
}

void JobIndices::grow() {
  std::vector<Slot> before(2 * slots_.size());
  before.swap(slots_);
  for (const Slot& slot : before) {
    if (slot.page != 0) slots_[slot_of(slot.key)] = slot;
  }
}

}  // namespace amdahl::scan
