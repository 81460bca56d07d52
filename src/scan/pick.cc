#include "scan/pick.h"

#include <fmt/format.h>

#include "base/text.h"

namespace amdahl::scan {
namespace {

// Empty if it is the first; else what stood before it and why it was passed over.
std::string passed_over(const Row& first, const Row& picked) {
  if (&first == &picked) return "";
  return fmt::format("; {} has {} to get back, but no spec to experiment with", first.name,
                     show_number(in_hours(first.recoverable)));
}

Pick pick_of(const Row& row, const Row& first, bool has_spec) {
  return {
      .family = row.name,
      .recoverable = row.recoverable,
      .job = row.worst_job,
      .has_spec = has_spec,
      .why = fmt::format("{} accelerator-hours to get back: {}{}",
                         show_number(in_hours(row.recoverable)), row.why, passed_over(first, row))};
}

}  // namespace

std::optional<Pick> pick(const Report& report,
                         const std::set<std::string, std::less<>>& with_spec) {
  const Row* first = nullptr;
  const Row* best = nullptr;
  for (const Row& row : report.cut(By::kFamily).rows) {
    if (row.recoverable <= 0) continue;
    if (!first || row.recoverable > first->recoverable) first = &row;
    if (!with_spec.contains(row.name)) continue;
    if (!best || row.recoverable > best->recoverable) best = &row;
  }
  if (!first) return std::nullopt;
  return best ? pick_of(*best, *first, true) : pick_of(*first, *first, false);
}

}  // namespace amdahl::scan
