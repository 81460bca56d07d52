// makefile.h: finds makefiles whose programs could be compiled with faster flags.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "code/patch.h"

namespace amdahl::code {

// In make's search order.
inline constexpr auto kMakefiles =
    std::to_array<std::string_view>({"GNUmakefile", "makefile", "Makefile"});

struct FasterBuild {
  std::vector<Edit> edits;
  int line = 0;
  std::string before;  // "-O2"; empty if no optimisation is set.
};

// Which floating-point changes are allowed.
enum class Rounding {
  kSame,  // -O3 -march=native -ffp-contract=off: every operation rounds as before.
  kFree,  // -Ofast -march=native: sums may be reordered, so that loops vectorise.
};

// Asks for that wherever the makefile's variables of flags, or the recipes of the target and of
// object files, ask for less; where nothing has a level, behind the flags or the compiler. Nothing
// where no compiler is called, or where all of that is there.
std::optional<FasterBuild> faster_build(std::string_view makefile, std::string_view target,
                                        Rounding rounding = Rounding::kSame);

// What stands in the place of the level `before`, which is used with these flags. Nothing if all of
// that is there.
std::optional<std::string> faster_level(const std::string& before, std::string_view flags,
                                        Rounding rounding);

// "-O2" and the like, the last of them, which counts; empty if there is none.
std::string last_level(std::string_view flags);

// What to tell make so that it makes this file: its name, or a rule whose recipe has "-o FILE".
std::optional<std::string> maker_of(std::string_view makefile, std::string_view target);

}  // namespace amdahl::code
