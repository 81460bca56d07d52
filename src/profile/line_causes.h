// line_causes.h: causes that single lines of the job's code reveal.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "code/finding.h"
#include "model/profile.h"
#include "profile/advice.h"
#include "profile/findings.h"
#include "profile/lines.h"
#include "profile/wait_lines.h"

namespace amdahl::profile {

// Adds a cause for each finding whose lines were timed and that no cause of its class covers.
// Without the line, such a check or copy would count as compute. Then the largest cause determines
// the job's class, as in classify().
void add_line_causes(std::span<const Finding> findings, model::Profile& profile);

// The finding shown with a cause: the one it was made from, or the most expensive of its class,
// measured ones first. nullptr if there is none.
const Finding* finding_behind(std::span<const Finding> findings, const model::Cause& cause);

// The most expensive other finding of the cause's class, on another line than `first`: both may
// need a fix. nullptr if there is none, or if the cause was made from `first`.
const Finding* finding_beside(std::span<const Finding> findings, const Finding& first,
                              const model::Cause& cause);

// What to try against a cause: the suggestion of the line that makes up most of it, else general
// advice for its kind.
std::string advice_on(std::span<const Finding> findings, const model::Cause& cause,
                      Framework framework);

// The job's most expensive lines: before the first step (without imports), in the steps, in making
// batches, and in the steps without batches and without the model.
struct HotLines {
  std::optional<LineCost> startup;
  std::optional<LineCost> import;
  std::optional<LineCost> input;
  std::optional<LineCost> step;
  std::optional<LoaderLine> loader{};  // What loaders did next to the steps.
};
HotLines hot_lines(std::span<const LineCost> lines, std::span<const code::LineRange> models);

// "train.py:12 (main) took 1.5 s of it": the line behind a cause without a finding, if it took a
// good part of it and not more. For a wait for loaders, "data.py:7 (decode) took 80 % of what its
// loaders did, 12 s". Else empty.
std::string hot_line_of(const HotLines& hot, const model::Cause& cause, double wall_s);
// The same; also empty for a cause shown with a measured line.
std::string hot_line_of(std::span<const Finding> findings, const HotLines& hot,
                        const model::Cause& cause, double wall_s);

}  // namespace amdahl::profile
