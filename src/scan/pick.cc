#include "scan/pick.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "scan/unit.h"

namespace amdahl::scan {
namespace {

Candidate candidate_of(const Row& row, bool has_spec, std::string why) {
  return {.family = row.name,
          .recoverable = row.recoverable,
          .wasted = wasted(row.split),
          .job = row.worst_job,
          .has_spec = has_spec,
          .why = std::move(why)};
}

std::string no_spec(const Row& row, const Standing& standing) {
  constexpr std::string_view kMissing = "no spec to experiment with: amdahl adopt";
  const std::string job = adopted_as(row.worst_job, standing.local_jobs, standing.slurm_knows);
  if (job.empty()) return fmt::format("{} --spec FILE", kMissing);
  return fmt::format("{} {} --family {}", kMissing, job, row.name);
}

// By what is recoverable, whatever order the report was asked for; ties stay as it has them.
std::vector<const Row*> worth_working_on(const Report& report) {
  std::vector<const Row*> rows;
  for (const Row& row : report.cut(By::kFamily).rows) {
    if (row.recoverable > 0) rows.push_back(&row);
  }
  std::ranges::stable_sort(rows, std::ranges::greater{}, &Row::recoverable);
  return rows;
}

std::string passed_words(const Pick& pick) {
  if (pick.passed_over.empty()) return "";
  const Candidate& most = pick.passed_over.front();
  std::string text = fmt::format("; {} has {} recoverable, but {}", most.family,
                                 in_words(most.recoverable), most.why);
  if (pick.passed > 1) {
    const std::size_t more = pick.passed - 1;
    text += fmt::format(", and {} more {} passed over", more, more == 1 ? "is" : "are");
  }
  return text;
}

}  // namespace

std::string adopted_as(const std::string& job, const std::set<std::string>& local_jobs,
                       bool slurm_knows) {
  if (local_jobs.contains(job)) return job;
  const bool is_number = !job.empty() && job.find_first_not_of("0123456789_") == job.npos;
  return slurm_knows && is_number ? "slurm:" + job : "";
}

Pick pick(const Report& report, const Standing& standing, std::size_t at_most) {
  Pick result;
  const Row* first = nullptr;
  const Row* adoptable = nullptr;
  std::vector<const Row*> barred;
  for (const Row* row : worth_working_on(report)) {
    const auto known = standing.specs.find(row->name);
    const bool able = known != standing.specs.end() && known->second.empty();
    if (!able && !first) {
      if (!adoptable && known == standing.specs.end()) adoptable = row;
      barred.push_back(row);
    } else if (able && !first) {
      first = row;
    } else if (able && result.next.size() < at_most) {
      result.next.push_back(candidate_of(*row, true, row->why));
    }
  }
  const bool has_spec = first != nullptr;
  if (!first) first = adoptable;
  for (const Row* row : barred) {
    if (row == first) continue;
    // Behind one that waits for its spec come others that do, too.
    if (!has_spec && first && row->recoverable <= first->recoverable) break;
    if (++result.passed > at_most) continue;
    const auto known = standing.specs.find(row->name);
    const bool specified = known != standing.specs.end();
    result.passed_over.push_back(
        candidate_of(*row, specified, specified ? known->second : no_spec(*row, standing)));
  }
  if (!first) {
    result.why = result.passed_over.empty()
                     ? "no family has recoverable time"
                     : "no family with recoverable time can be worked on" + passed_words(result);
    return result;
  }
  result.why =
      fmt::format("{} recoverable: {}{}{}", in_words(first->recoverable), first->why,
                  has_spec ? "" : "; it has " + no_spec(*first, standing), passed_words(result));
  result.first = candidate_of(*first, has_spec, result.why);
  return result;
}

}  // namespace amdahl::scan
