// Which samples are of clocks that were not set, told from when all the others and the jobs were.
#include "fleet/clocks.h"

#include "scan/usage_accumulator.h"

namespace amdahl::scan {

std::optional<UsageAccumulator::Clocks> UsageAccumulator::clocks() const {
  const bool is_open = asked_.start == Nanos{kBeginning} || asked_.end == Nanos{kForever};
  if (!is_open || options_.clocks) return std::nullopt;
  std::vector<fleet::SampleRun> runs;
  const auto add = [&](const Run& run) {
    runs.push_back({Nanos{run.first}, Nanos{run.last}, run.samples, false});
  };
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    if (!tracks_[i].is_used) continue;
    for (const Run& run : tracks_[i].runs) add(run);
    if (cursors_[i].last != kBeginning) add(tracks_[i].current(cursors_[i]));
  }
  runs = joined(std::move(runs), fleet::kFarApart);
  if (runs.size() < 2) return std::nullopt;
  for (JobIndex job = 0; job < jobs_.size(); ++job) {
    const Nanos start = jobs_.rows().start(job);
    const Nanos end = jobs_.rows().end(job);
    for (fleet::SampleRun& run : runs) {
      if (start <= run.last && end >= run.first) run.has_job = true;
    }
  }
  const auto times = fleet::true_times(std::move(runs), options_.now);
  if (!times) return std::nullopt;
  return Clocks{{times->from, times->to}, times->far};
}

}  // namespace amdahl::scan
