// fixed_random.h: random numbers that follow from a seed, for tests that are replayed.
#pragma once

#include <cstdint>

namespace amdahl::os {

// From now on random_hex() of this process follows from the seed. For one thread.
void fix_random(std::uint64_t seed);

}  // namespace amdahl::os
