// format.h: record types of a journal (docs/format/journal.md).
#pragma once

#include <cstdint>
#include <string_view>

namespace amdahl::fleet::journal {

inline constexpr std::string_view kMagic = "AMDAHL-JOURNAL 1\n";
inline constexpr std::size_t kBlock = 1 << 18;     // A block is closed at this size.
inline constexpr std::size_t kLargest = 64 << 20;  // Maximum block size.

enum class Op : std::uint8_t {
  kSeries = 1,
  kSamples,
  kRows,
  kJob,
  kPlace,
  kCapacity,
  kOccupancy,
  kTrouble,
  kTroubles,
  kDevice,
  kParts,
  kDown,
  kShards,   // Of the next job.
  kProfile,  // Of the next series.
  kReason,   // Of the next job.
  kCluster,  // Of the next job.
};

// Encoding of values: bytes if all are integers below 256, as percentages are.
enum class Values : std::uint8_t { kBytes, kFloats };

}  // namespace amdahl::fleet::journal
