// line_causes.h: causes that single lines of the job's code make plain.
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

// Adds a cause for each finding whose own lines were timed and that no cause of its class holds:
// what a check or a copy computes is compute to everyone who does not see whose line it is. Then
// the largest cause makes the class of the job, as in classify().
void add_line_causes(std::span<const Finding> findings, model::Profile& profile);

// The finding that a cause is shown with: the one it was made from, or of its class the dearest,
// one that was timed before one that was concluded. nullptr if there is none.
const Finding* finding_behind(std::span<const Finding> findings, const model::Cause& cause);

// After `first`, the dearest of the cause's class at another line: both may be needed. nullptr if
// there is none, or if the cause was made from `first`.
const Finding* finding_beside(std::span<const Finding> findings, const Finding& first,
                              const model::Cause& cause);

// What to try against a cause: what the line suggests that is most of it, else what helps its kind.
std::string advice_on(std::span<const Finding> findings, const model::Cause& cause,
                      Framework framework);

// The job's own lines that took most: of what came before the first step, imports aside, of these,
// of the making of batches, and of the steps without that and without running the model.
struct HotLines {
  std::optional<LineCost> startup;
  std::optional<LineCost> import;
  std::optional<LineCost> input;
  std::optional<LineCost> step;
  std::optional<LoaderLine> loader{};  // Of what loaders did beside the steps.
};
HotLines hot_lines(std::span<const LineCost> lines, std::span<const code::LineRange> models);

// "train.py:12 (main) took 1.5 s of it": the line that a cause without a finding went to, if it
// took a good part of it and no more than it. Of a wait for loaders, "data.py:7 (decode) took 80 %
// of what its loaders did, 12 s". Else empty.
std::string hot_line_of(const HotLines& hot, const model::Cause& cause, double wall_s);
// The same; empty also for a cause that is shown with a line that was timed.
std::string hot_line_of(std::span<const Finding> findings, const HotLines& hot,
                        const model::Cause& cause, double wall_s);

}  // namespace amdahl::profile
