#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "app/pairs.h"
#include "app/reconcile.h"

namespace amdahl::app {

bool waits_for_helpers(const Submitted& submitted) {
  return std::ranges::any_of(submitted,
                             [](const auto& row) { return row.second.offered > Nanos{0}; });
}

int forget_ended(Submitted& submitted, const std::vector<model::Pair>& in_flight) {
  const auto count = std::erase_if(submitted, [&](const auto& row) {
    return row.second.offered > Nanos{0} &&
           std::ranges::find(in_flight, row.first, &model::Pair::reservation) == in_flight.end();
  });
  return static_cast<int>(count);
}

Result<> cancel_closed(Context& context, Submitted& submitted, const Say& say) {
  const std::vector<model::Pair> runs = TRY(context.ledger->runs_in_flight());
  std::set<std::string> wanted;  // Places where a run of an open question goes on.
  std::map<std::string, const model::Pair*> closed;
  for (const model::Pair& run : runs) {
    const std::string place = ref_of(run).reservation;
    // An A/A pair that shares a baseline goes with those it shares it with.
    const bool joins = run.experiment.empty() && !run.block.empty();
    const bool is_open =
        !joins && (run.experiment.empty() ||
                   TRY(context.ledger->experiment(run.experiment)).state != "closed");
    if (is_open) wanted.insert(place);
    if (!is_open) closed.emplace(place, &run);
  }
  for (const auto& [place, run] : closed) {
    Handing& handing = submitted[run->reservation];
    if (wanted.contains(place) || handing.cancelled) continue;
    handing.cancelled = true;
    say(fmt::format("{}: {} is cancelled: its experiment is closed", run->family, place));
    TRY(context.launcher->cancel(ref_of(*run)));
  }
  return Ok{};
}

}  // namespace amdahl::app
