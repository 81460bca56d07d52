// diff.h: what changed between two profiles of a job, compared with the variation between steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/trace_report.h"

namespace amdahl::profile {

// How a diff is grouped. Names are written to JSON.
enum class DiffBy : std::uint8_t { kCause, kKind, kKernel, kLine };
std::string_view name(DiffBy by);  // "cause", "kind", "kernel", "line".

// Seconds of one item: one value per step, or one for the whole capture if there are no steps or
// only a sum is known.
struct DiffPart {
  DiffBy by = DiffBy::kCause;
  std::string name;
  std::vector<double> seconds;
};

// What a diff needs of one side; small, so that only one trace is in memory at a time.
struct DiffSide {
  std::string label;          // Its first file.
  std::vector<double> steps;  // Seconds of each step, all ranks; empty: the trace marks no steps.
  double wall = 0;            // Seconds.
  std::size_t ranks = 1;
  std::vector<DiffPart> parts{};
};
DiffSide diff_side(const Prepared& prepared, const TraceReport& report);

// Seconds per step (or of the whole): before, after, and the difference of the means with its 95 %
// interval (Welch's t). No interval if either side has fewer than two values.
struct Moved {
  DiffBy by = DiffBy::kCause;
  std::string name;
  double before = 0;
  double after = 0;
  double change = 0;
  std::optional<double> lower;
  std::optional<double> upper;
  bool can_tell = false;  // The interval excludes 0.
};
Moved moved_between(const std::vector<double>& before, const std::vector<double>& after);

struct Diff {
  std::string before;
  std::string after;
  bool by_step = false;  // Both sides mark steps: values are per step; else per capture.
  std::size_t steps_before = 0;
  std::size_t steps_after = 0;
  Moved whole;          // The step, or the wall time.
  double relative = 0;  // whole.change / whole.before.
  std::optional<double> relative_lower;
  std::optional<double> relative_upper;
  std::vector<Moved> rows;  // Largest change first; changes below 0.1 % of the whole are omitted.
  std::vector<std::string> notes;
};
Diff diff(const DiffSide& before, const DiffSide& after);

// Parses "regression>3%" as 0.03.
Result<double> parse_fail_if(std::string_view text);
// Slower by more than `limit`, and by more than the noise between steps where that is known.
bool is_regression(const Diff& diff, double limit);

std::string draw(const Diff& diff, int width);

}  // namespace amdahl::profile
