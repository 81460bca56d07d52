// makefile.h: a makefile whose programs could be compiled for speed and for this machine.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "code/patch.h"

namespace amdahl::code {

// In the order in which make looks for them.
inline constexpr auto kMakefiles =
    std::to_array<std::string_view>({"GNUmakefile", "makefile", "Makefile"});

struct FasterBuild {
  std::vector<Edit> edits;
  int line = 0;
  std::string before;  // "-O2"; empty if nothing asks for any optimisation.
};

// What a compiler may do to numbers.
enum class Rounding {
  kSame,  // -O3 -march=native -ffp-contract=off: each operation is rounded as before.
  kFree,  // -Ofast -march=native: sums in any order, so that loops over them are vectors.
};

// Asks for that where the makefile's variables of flags, or else the recipe of the target, ask for
// less. Nothing where there are no flags, or where all of that is there.
std::optional<FasterBuild> faster_build(std::string_view makefile, std::string_view target,
                                        Rounding rounding = Rounding::kSame);

// Whether the makefile has a rule that makes this file.
bool makes(std::string_view makefile, std::string_view target);

}  // namespace amdahl::code
