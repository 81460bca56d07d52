// builds.h: how to rebuild a compiled program of a checkout, as it is and with faster flags.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "code/makefile.h"
#include "model/spec.h"

namespace amdahl::app {

// The command that rebuilds the spec's program in another checkout of its repo: with the makefile
// that makes it, in its folder or above, or with CMake if it lies in a build folder of CMake. Empty
// if it is not a compiled program, or if no build file mentions it.
std::vector<std::string> build_command_of(const model::Spec& spec);

// One file of the repo that asks for more speed.
struct BuildPatch {
  std::string path;    // Below the repo.
  std::string patch;   // A unified diff.
  std::string before;  // "-O2"; empty if nothing asks for any optimisation.
  int line = 0;
};

// For a build as build_command_of() makes them; nothing is known of others.
std::optional<BuildPatch> faster_build_of(const model::Spec& spec, code::Rounding rounding);

}  // namespace amdahl::app
