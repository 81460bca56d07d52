#include <cstddef>
#include <utility>

#include "scan/family.h"
#include "scan/fleet_usage.h"

namespace amdahl::scan {
namespace {

// Three numbers that decide something about a job.
struct Traits {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  std::uint32_t third = 0;

  friend bool operator==(const Traits&, const Traits&) = default;
};

std::uint64_t hash_of(const Traits& traits) {
  const auto mix = [](std::uint64_t value) {  // The finaliser of MurmurHash3.
    value = (value ^ (value >> 33)) * 0xff51afd7ed558ccdU;
    value = (value ^ (value >> 33)) * 0xc4ceb9fe1a85ec53U;
    return value ^ (value >> 33);
  };
  return mix(mix(std::uint64_t{traits.first} << 32 | traits.second) ^ traits.third);
}

// Open addressing over a power of two: ten million jobs must not cost an allocation each.
class Seen {
 public:
  // What was said of these traits; what `say` says of them when they are new.
  template <class Say>
  std::uint32_t of(const Traits& traits, Say say) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place_of(traits)];
    if (!slot.taken) {
      slot = {.traits = traits, .said = say(), .taken = true};
      ++used_;
    }
    return slot.said;
  }

 private:
  struct Slot {
    Traits traits;
    std::uint32_t said = 0;
    bool taken = false;
  };

  std::size_t place_of(const Traits& traits) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash_of(traits) & mask;
    while (slots_[at].taken && slots_[at].traits != traits) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    std::vector<Slot> before(slots_.empty() ? 1024 : 2 * slots_.size());
    before.swap(slots_);
    for (const Slot& slot : before) {
      if (slot.taken) slots_[place_of(slot.traits)] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace

Families families_of(const FleetUsage& usage, Recogniser recogniser) {
  Families families;
  families.of_job.reserve(usage.jobs.size());
  Seen stems;
  Seen seen;
  for (const FleetJob& job : usage.jobs) {
    const Traits named{.first = job.name, .second = job.script, .third = job.family};
    const std::uint32_t stem = stems.of(named, [&] {
      return recogniser.stem_of({.family = usage.text(job.family),
                                 .name = usage.text(job.name),
                                 .script = usage.text(job.script)});
    });
    const auto size = static_cast<std::uint32_t>(size_class(job.accelerators));
    const Traits held{.first = stem, .second = job.user, .third = size};
    const std::uint32_t family =
        seen.of(held, [&] { return recogniser.of(stem, usage.text(job.user), job.accelerators); });
    recogniser.again(family, job.accelerators);
    families.of_job.push_back(family);
  }
  families.all = std::move(recogniser).take();
  return families;
}

}  // namespace amdahl::scan
