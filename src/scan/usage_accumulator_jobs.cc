// What accounting tells a UsageAccumulator: jobs, where they were, and what there is for them.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "fleet/hostlist.h"
#include "scan/job_times.h"
#include "scan/usage_accumulator.h"

namespace amdahl::scan {

using model::Trouble;

void UsageAccumulator::add(const fleet::Job& told) {
  const auto& [given, where] = told;
  const JobIndex before = jobs_.size();
  has_accounting_ = true;
  ++told_by_[input_number_].jobs;
  model::JobDraft job = given;
  std::optional<Trouble> mended;
  if (job.accelerators > 0 || job.shards > 0) mended = mend_start(job);
  if (mended == Trouble::kNoStart) {
    return trouble(Trouble::kNoStart, where, std::string(job.id) + ": has an end but no start");
  }
  const auto odd = jobs_.add(job);
  if (odd == Trouble::kBadTime) {
    const bool has_end = job.end > Nanos{} || job.elapsed >= Nanos{};
    trouble(Trouble::kBadTime, where,
            std::string(job.id) +
                (has_end ? ": ends before it starts" : ": has ended, but has no end time"));
  } else if (odd == Trouble::kTwoZones) {
    trouble(Trouble::kTwoZones, where,
            std::string(job.id) + " is a duplicate with all times shifted by the same hours");
  } else if (odd) {
    count(*odd);
  }
  if (jobs_.size() == before) return;
  accelerators_ += std::max(1.0, std::ceil(job.accelerators));
  is_stale_ = true;
  if (jobs_.rows().running(before)) count(Trouble::kRunning);
  if (!mended) return;
  assumed_.emplace(before, *mended);
  trouble(*mended, where,
          fmt::format(
              "{}: no start; used {}", job.id,
              given.end > Nanos{} && given.elapsed > Nanos{} ? "end - elapsed" : "submit time"));
}

void UsageAccumulator::add(const fleet::Assignment& place) {
  holders_.place(words_.intern_job(place.job), holders_.host(place.host),
                 words_.intern(place.accelerator));
  is_stale_ = true;
}

void UsageAccumulator::add(const fleet::Device& device) {
  fleet::Device known = device;
  const std::string host = fleet::host_key(device.host);
  known.host = host;
  if (!holders_.learn(known)) {
    trouble(Trouble::kBadLine, {},
            std::string(known.uuid.empty() ? known.bus : known.uuid) +
                " names several accelerators; the first is kept");
  }
  is_stale_ = true;
}

void UsageAccumulator::add(const fleet::Parts& parts) {
  double& most = parts_[holders_.host(parts.host)];
  most = std::max(most, parts.of_each);
}

void UsageAccumulator::add(const fleet::Down& down) {
  down_.add(holders_.host(down.host), down.from, down.to, down.accelerators);
}

void UsageAccumulator::add(const fleet::Capacity& told) {
  capacities_.push_back({holders_.host(told.host), words_.intern(told.partition),
                         words_.intern(told.kind), told.accelerators});
}

void UsageAccumulator::add(const fleet::Occupancy& occupancy) {
  occupied_.push_back({words_.intern(occupancy.partition), occupancy});
  occupied_.back().occupancy.partition = {};
}

}  // namespace amdahl::scan
