#include <cstddef>
#include <utility>

#include "scan/family.h"
#include "scan/fleet_usage.h"

namespace amdahl::scan {
namespace {

// What decides a job's family, as numbers.
struct Traits {
  WordId family = 0;
  WordId name = 0;
  WordId script = 0;
  WordId user = 0;
  std::uint32_t size = 0;  // The size class.

  friend bool operator==(const Traits&, const Traits&) = default;
};

std::uint64_t hash_of(const Traits& traits) {
  const auto mix = [](std::uint64_t value) {  // The finaliser of MurmurHash3.
    value = (value ^ (value >> 33)) * 0xff51afd7ed558ccdU;
    value = (value ^ (value >> 33)) * 0xc4ceb9fe1a85ec53U;
    return value ^ (value >> 33);
  };
  const auto pair = [](std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} << 32 | b; };
  return mix(mix(mix(traits.family) ^ pair(traits.name, traits.script)) ^
             pair(traits.user, traits.size));
}

// Open addressing over a power of two: ten million jobs must not cost an allocation each.
class Seen {
 public:
  // The family of these traits; whatever `recognise` says of them when they are new.
  template <class Recognise>
  std::uint32_t family(const Traits& traits, Recognise recognise) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place_of(traits)];
    if (!slot.taken) {
      slot = {.traits = traits, .family = recognise(), .taken = true};
      ++used_;
    }
    return slot.family;
  }

 private:
  struct Slot {
    Traits traits;
    std::uint32_t family = 0;
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
  Seen seen;
  for (const FleetJob& job : usage.jobs) {
    const auto size = static_cast<std::uint32_t>(size_class(job.accelerators));
    const Traits traits{.family = job.family,
                        .name = job.name,
                        .script = job.script,
                        .user = job.user,
                        .size = size};
    const std::uint32_t family = seen.family(traits, [&] {
      return recogniser.of({.family = usage.text(job.family),
                            .name = usage.text(job.name),
                            .script = usage.text(job.script),
                            .user = usage.text(job.user),
                            .accelerators = job.accelerators});
    });
    recogniser.again(family, job.accelerators);
    families.of_job.push_back(family);
  }
  families.all = std::move(recogniser).take();
  return families;
}

}  // namespace amdahl::scan
