// show_causes.h: the causes of a job's profile: seconds, ceiling, line, what to try.
#pragma once

#include <string>

#include "app/job_profile.h"
#include "cli/options.h"

namespace amdahl::cli {

// The bottleneck and why; each cause with its line and what to try; how the job ran.
std::string show_causes(const Flags& flags, const app::JobProfile& profile);

// A speed-up: "1.25x".
std::string times(double ceiling);

// Relative to the current folder if possible: "train.py:12".
std::string place_of(const code::Finding& finding);

// Wrapped to the terminal's width, each line indented.
std::string wrapped(const Flags& flags, std::string_view text, std::size_t indent);

}  // namespace amdahl::cli
