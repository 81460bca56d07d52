#include "scan/rank.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "scan/report.h"

namespace amdahl::scan {
namespace {

// A scan of a few short jobs must not claim their rate for whole days.
constexpr double kShortestWindowHours = 1;

double chance(const Memory& memory) { return chance_of(memory, {}); }

double window_hours(std::span<const model::Usage> jobs) {
  if (jobs.empty()) return kShortestWindowHours;
  Nanos first = jobs.front().start;
  Nanos last = jobs.front().end;
  for (const model::Usage& job : jobs) {
    first = std::min(first, job.start);
    last = std::max(last, job.end);
  }
  return std::max(to_seconds(last - first) / 3600, kShortestWindowHours);
}

struct Gathered {
  FamilyWaste waste;
  Nanos latest{};
};

void add(Gathered& family, const model::Usage& job, const Thresholds& thresholds) {
  const Split split = split_of(job, thresholds);
  FamilyWaste& waste = family.waste;
  waste.family = job.family;
  ++waste.jobs;
  waste.split += split;
  if (job.failed) {
    ++waste.failed;
    waste.lost_in_failed += split.allocated;
  }
  if (waste.jobs == 1 || std::tie(job.end, job.job) > std::tie(family.latest, waste.latest_job)) {
    family.latest = job.end;
    waste.latest_job = job.job;
  }
}

std::string why(const FamilyWaste& waste, const Memory& memory, double lever) {
  if (waste.split.unobserved >= waste.split.allocated) {
    return fmt::format("{} accelerator-seconds in {} {}, none of them observed: cannot tell",
                       show_number(waste.split.allocated), waste.jobs,
                       waste.jobs == 1 ? "job" : "jobs");
  }
  return fmt::format(
      "{} of {} accelerator-seconds ({}) idle or low in {} {}; {} {}; {} of {} tried won, chance "
      "{}",
      show_number(wasted(waste.split)), show_number(waste.split.allocated),
      show_percent(wasted(waste.split) / waste.split.allocated), waste.jobs,
      waste.jobs == 1 ? "job" : "jobs",
      memory.best_ceiling_share > 0 ? "the latest profile's largest cause explains"
                                    : "not profiled yet, so a lever is taken to reach",
      show_percent(lever), memory.won, memory.tried, show_percent(chance(memory)));
}

void conclude(FamilyWaste& waste, const Memory& memory, double hours) {
  const double allocated = waste.split.allocated;
  const double waste_share = allocated > 0 ? wasted(waste.split) / allocated : 0;
  const double lever =
      memory.best_ceiling_share > 0 ? std::min(memory.best_ceiling_share, 1.0) : waste_share;
  waste.recoverable = wasted(waste.split) * lever * chance(memory);
  waste.volume_per_day = allocated / 3600 / (hours / 24);
  waste.why = why(waste, memory, lever);
}

}  // namespace

std::vector<FamilyWaste> rank(std::span<const model::Usage> jobs,
                              const std::map<std::string, Memory>& memory,
                              const Thresholds& thresholds) {
  std::map<std::string, Gathered> families;
  std::set<std::tuple<std::string, std::string, Nanos>> counted;
  for (const model::Usage& job : jobs) {
    // The same record found twice is one job; the same id at another time is another attempt.
    if (!counted.emplace(job.job, job.host, job.start).second) continue;
    add(families[job.family], job, thresholds);
  }

  const double hours = window_hours(jobs);
  std::vector<FamilyWaste> ranked;
  for (auto& [name, family] : families) {
    const auto known = memory.find(name);
    conclude(family.waste, known == memory.end() ? Memory{} : known->second, hours);
    ranked.push_back(std::move(family.waste));
  }
  std::ranges::sort(ranked, [](const FamilyWaste& a, const FamilyWaste& b) {
    const double waste_a = wasted(a.split);
    const double waste_b = wasted(b.split);
    return std::tie(b.recoverable, waste_b, a.family) < std::tie(a.recoverable, waste_a, b.family);
  });
  return ranked;
}

}  // namespace amdahl::scan
