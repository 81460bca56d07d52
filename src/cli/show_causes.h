// show_causes.h: the causes of a job's profile as a page to act on: seconds, ceiling, line, try.
#pragma once

#include <string>

#include "app/job_profile.h"
#include "cli/options.h"

namespace amdahl::cli {

// What bounds the job and why; each cause with the line behind it and what to try; how it went.
std::string show_causes(const Flags& flags, const app::JobProfile& profile);

// A speed-up: "1.25x".
std::string times(double ceiling);

// Shorter where it lies below the folder that a person stands in: "train.py:12".
std::string place_of(const code::Finding& finding);

// At spaces, to the terminal's width, each line indented.
std::string wrapped(const Flags& flags, std::string_view text, std::size_t indent);

}  // namespace amdahl::cli
