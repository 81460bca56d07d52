// features.h: seeded synthetic records, and what the network sees of one.
#pragma once

#include <span>
#include <string>

namespace device_queue {

inline constexpr int kFeatures = 512;

// Text of a few kilobytes; the same for the same index on every machine.
void make_record(int index, std::string& text);

// Hashed n-grams of 3 to 5 letters, as signed counts cut to [-8, 7]: small whole numbers, so that
// every sum of the network is exact in a float and no order of adding changes a score.
void hash_features(const std::string& text, std::span<float> features);

}  // namespace device_queue
