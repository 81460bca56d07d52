#include <algorithm>

#include <fmt/core.h>

#include "base/check.h"
#include "base/hash.h"
#include "canary/canary.h"
#include "stats/coin.h"

namespace amdahl::canary {

// All canaries of a family cut a block into the same couples, so that different ones do not meet.
SlotPair slot_pair_of(const model::Canary& canary, std::string_view host, int block) {
  CHECK(canary.one_in >= 2 && block >= 0);
  const int couples = std::max(1, (canary.one_in - 1) / 2);
  const Digest draw = sha256(fmt::format("canary|{}|{}|{}", canary.family, host, block));
  // One slot is to spare in a block, two in one of an even number: couples start at 0 or at 1.
  const int shift = canary.one_in > 2 ? draw[0] & 1 : 0;
  const int turn = (draw[1] * 256 + draw[2] + canary.number) % couples;
  SlotPair couple;
  couple.first = block * canary.one_in + shift + 2 * turn;
  couple.second_held_back =
      stats::coin(canary.seed, fmt::format("{}@{}", canary.hypothesis, host), block);
  return couple;
}

std::optional<std::string> held_back(std::span<const model::Canary> open, std::string_view host,
                                     int slot) {
  for (const model::Canary& canary : open) {
    const SlotPair couple = slot_pair_of(canary, host, slot / canary.one_in);
    if (slot == couple.held_back()) return canary.hypothesis;
    if (slot == couple.partner()) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace amdahl::canary
