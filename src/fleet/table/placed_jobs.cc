#include "fleet/table/placed_jobs.h"

#include <cmath>

namespace amdahl::fleet::table {

void PlacedJobs::add(const model::JobDraft& job, std::string_view host,
                     std::string_view accelerator, Where where) {
  const auto [found, is_new] = jobs_.try_emplace({std::string(job.id), job.start, job.end});
  Placed& placed = found->second;
  const bool is_again = !placed.places.emplace(host, accelerator).second;
  if (!is_again && !std::isnan(job.mean_utilisation)) {
    placed.utilisation += job.mean_utilisation;
    ++placed.lines;
  }
  if (!is_new) return;
  placed.draft = job;
  placed.where = where;
  for (std::string_view model::JobDraft::*text :
       {&model::JobDraft::id, &model::JobDraft::raw, &model::JobDraft::name, &model::JobDraft::user,
        &model::JobDraft::account, &model::JobDraft::partition, &model::JobDraft::kind,
        &model::JobDraft::family, &model::JobDraft::script, &model::JobDraft::reason,
        &model::JobDraft::metric}) {
    placed.draft.*text = *placed.texts.emplace(job.*text).first;
  }
}

void PlacedJobs::tell(Intake& intake) {
  for (auto& [key, placed] : jobs_) {
    std::string hosts;
    std::string_view last;
    for (const auto& [host, accelerator] : placed.places) {
      if (!accelerator.empty()) intake.tell(Assignment{placed.draft.id, host, accelerator});
      if (host == last) continue;
      last = host;
      hosts.append(hosts.empty() ? "" : ",").append(host);
    }
    placed.draft.hosts = hosts;
    placed.draft.accelerators = static_cast<double>(placed.places.size());
    if (placed.lines > 0) placed.draft.mean_utilisation = placed.utilisation / placed.lines;
    intake.job(placed.draft, placed.where);
  }
  jobs_.clear();
}

}  // namespace amdahl::fleet::table
