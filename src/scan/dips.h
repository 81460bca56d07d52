// dips.h: whether a job stalls again and again, as far as bins can show it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace amdahl::scan {

double median_of(std::vector<double> values);  // 0 if empty.

struct Spacing {
  bool alike = false;  // The gaps are equal.
  bool seen = false;   // Bins are fine enough to show that they are not.
};
// For gaps between dips, in bins. Wide bins round gaps, which makes equal distances hard to tell
// from chance, so more gaps are needed.
Spacing spacing_of(const std::vector<double>& gaps);

// Whether the idle share of bins is about the same in all parts of the run. Dips one or two bins
// apart merge, so that no gaps are left to compare. With few samples per bin, gaps are more
// reliable.
bool is_even(std::span<const double> still, std::uint64_t samples_in_a_bin);

}  // namespace amdahl::scan
