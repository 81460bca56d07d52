// dips.h: whether a job stands still again and again, as far as bins can show it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace amdahl::scan {

double median_of(std::vector<double> values);  // 0 of none.

struct Spacing {
  bool alike = false;  // The gaps are one distance.
  bool seen = false;   // Bins are fine enough to say that they are not.
};
// Of gaps between dips, in bins. Wide bins round them, and leave little between one distance and
// chance, so that it takes more of them to tell.
Spacing spacing_of(const std::vector<double>& gaps);

// Whether what is still of each bin comes to about the same in all stretches of the run: dips that
// come at a distance of one or two bins run into each other, so that no gaps are left to compare.
// Of bins with few samples gaps tell better.
bool is_even(std::span<const double> still, std::uint64_t samples_in_a_bin);

}  // namespace amdahl::scan
