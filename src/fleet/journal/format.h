// format.h: the records of a journal; docs/format/journal.md describes them.
#pragma once

#include <cstdint>
#include <string_view>

namespace amdahl::fleet::journal {

inline constexpr std::string_view kMagic = "AMDAHL-JOURNAL 1\n";
inline constexpr std::size_t kBlock = 1 << 18;     // A block is closed once it is so long.
inline constexpr std::size_t kLargest = 64 << 20;  // No block is longer than this.

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
  kShards,   // Of the job that comes next.
  kProfile,  // Of the series that comes next.
  kReason,   // Of the job that comes next.
};

// How values are written: bytes where all are whole and below 256, as percentages are.
enum class Values : std::uint8_t { kBytes, kFloats };

}  // namespace amdahl::fleet::journal
