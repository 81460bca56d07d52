#include "scan/row_words.h"

#include <fmt/core.h>

#include "base/amount.h"
#include "base/count.h"
#include "base/text.h"

namespace amdahl::scan {

std::string waste_words(const Row& row) {
  const double unit = row.split.allocated < 3600 ? 1 : 3600;
  const std::string hours = fmt::format(
      "{} accelerator-{}", show_amount(row.split.allocated / unit), unit > 1 ? "hours" : "seconds");
  const std::string jobs = counted(static_cast<std::int64_t>(row.jobs), "job");
  if (observed_in(row.split) <= 0) {
    return fmt::format("{} in {}, none of them observed: cannot tell", hours, jobs);
  }
  return fmt::format("{} of {} ({}) wasted in {}", show_amount(wasted(row.split) / unit), hours,
                     show_percent(wasted(row.split) / row.split.allocated), jobs);
}

std::string lever_words(const Lever& lever) {
  switch (lever.from) {
    case Lever::From::kNothing:
      return "nothing recoverable";
    case Lever::From::kProfile:
      return fmt::format(
          "lever: its latest profile puts {} down to {}", show_percent(lever.ceiling),
          lever.against == model::Bottleneck::kUnknown ? "waiting that nothing explains"
                                                       : model::describe(lever.against));
    case Lever::From::kShare:
      return fmt::format("timing unknown: a lever is assumed to reach {} of it",
                         show_percent(lever.ceiling));
    case Lever::From::kAnatomy:
      return fmt::format("lever: {}, at most {} of it", lever.action, show_percent(lever.ceiling));
  }
  return "";
}

std::string chance_words(const Lever& lever) {
  const std::string chance = show_percent(lever.chance);
  std::string tries;
  if (lever.such.tried > 0) {
    tries = fmt::format("such levers worked in {} of {}", lever.such.won,
                        counted(lever.such.tried, "try", "tries"));
  }
  if (lever.here.tried > 0) {
    tries += tries.empty() ? fmt::format("levers of this family worked in {} of {}", lever.here.won,
                                         counted(lever.here.tried, "try", "tries"))
                           : fmt::format(", those of this family in {} of {}", lever.here.won,
                                         lever.here.tried);
  }
  if (tries.empty()) {
    return fmt::format("no such lever was tried yet: chance {}{}, {}", chance,
                       lever.chance_lower < lever.chance_upper
                           ? fmt::format(" ({} to {})", show_percent(lever.chance_lower),
                                         show_percent(lever.chance_upper))
                           : "",
                       lever.basis);
  }
  return fmt::format("{}: chance {}", tries, chance);
}

}  // namespace amdahl::scan
