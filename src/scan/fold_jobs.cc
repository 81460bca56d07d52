// What accounting tells a Fold: jobs, where they were, and what there is for them.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "fleet/hostlist.h"
#include "scan/fold.h"
#include "scan/job_times.h"

namespace amdahl::scan {

using model::Trouble;

void Fold::job(const model::JobDraft& given, fleet::Where where) {
  const JobIndex before = jobs_.size();
  has_accounting_ = true;
  ++told_by_[input_number_].jobs;
  model::JobDraft job = given;
  std::optional<Trouble> mended;
  if (job.accelerators > 0 || job.shards > 0) mended = mend_start(job);
  if (mended == Trouble::kNoStart) {
    return trouble(Trouble::kNoStart, where,
                   std::string(job.id) + ": it has an end, but when it began is not said");
  }
  const auto odd = jobs_.add(job);
  if (odd == Trouble::kBadTime) {
    const bool has_end = job.end > Nanos{} || job.elapsed >= Nanos{};
    trouble(Trouble::kBadTime, where,
            std::string(job.id) + (has_end ? ": its end lies before its start"
                                           : ": it has ended, but when is not said"));
  } else if (odd == Trouble::kTwoZones) {
    trouble(Trouble::kTwoZones, where,
            std::string(job.id) + " came before, with all its times as many hours apart");
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
              "{}: its start is not said; taken: {}", job.id,
              given.end > Nanos{} && given.elapsed > Nanos{} ? "end - elapsed" : "its submission"));
}

void Fold::place(std::string_view job, std::string_view host, std::string_view accelerator) {
  holders_.place(words_.intern(job), holders_.host(host), words_.intern(accelerator));
  is_stale_ = true;
}

void Fold::device(const Device& device) {
  Device known = device;
  const std::string host = fleet::host_key(device.host);
  known.host = host;
  if (!holders_.learn(known)) {
    trouble(Trouble::kBadLine, {},
            std::string(known.uuid.empty() ? known.bus : known.uuid) +
                " is the name of several accelerators; the first stays");
  }
  is_stale_ = true;
}

void Fold::parts(std::string_view host, double of_each) {
  double& most = parts_[holders_.host(host)];
  most = std::max(most, of_each);
}

void Fold::down(const Down& down) {
  down_.add(holders_.host(down.host), down.from, down.to, down.accelerators);
}

void Fold::capacity(std::string_view host, std::string_view partition, std::string_view kind,
                    int accelerators) {
  capacities_.push_back(
      {holders_.host(host), words_.intern(partition), words_.intern(kind), accelerators});
}

void Fold::occupancy(std::string_view partition, const Occupancy& occupancy) {
  occupied_.push_back({words_.intern(partition), occupancy});
}

}  // namespace amdahl::scan
