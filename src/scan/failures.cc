#include "scan/failures.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace amdahl::scan {
namespace {

struct FailurePile {
  Failure sum;
  std::set<WordId> users;
  double most = 0;
};

bool is_bad(model::JobState state) {
  return model::is_lost(state) || state == model::JobState::kPreempted;
}

// Another cluster may have given the number to a job of somebody else.
using Attempts = std::map<std::pair<JobName, WordId>, Nanos>;
std::pair<JobName, WordId> who(const JobRows& jobs, std::size_t i) {
  return {jobs.id(i), jobs.traits()[jobs.traits_of(i)].user};
}

// The start of the last attempt of jobs that have several.
Attempts last_attempts(const FleetUsage& usage, const Stop& stop) {
  Attempts last;
  for (std::size_t i = 0; i < usage.jobs.size() && !stop(i); ++i) {
    if (usage.jobs.attempt(i) == 0) continue;
    Nanos& start = last[who(usage.jobs, i)];
    start = std::max(start, usage.jobs.start(i));
  }
  return last;
}

}  // namespace

std::vector<Failure> failures_of(const FleetUsage& usage, const Stop& stop) {
  const JobRows& jobs = usage.jobs;
  const auto last = last_attempts(usage, stop);
  std::map<std::pair<std::string_view, WordId>, FailurePile> piles;
  for (std::size_t i = 0; i < jobs.size() && !stop(i); ++i) {
    std::string_view state;
    if (is_bad(jobs.state(i))) {
      state = model::name(jobs.state(i));
    } else if (!last.empty() && jobs.state(i) != model::JobState::kCompleted) {
      const auto later = last.find(who(jobs, i));
      if (later != last.end() && jobs.start(i) < later->second) state = "REQUEUED";
    }
    if (state.empty()) continue;
    const JobRows::Traits& traits = jobs.traits()[jobs.traits_of(i)];
    FailurePile& pile = piles[{state, traits.reason}];
    const Split split = jobs.split(i);
    ++pile.sum.jobs;
    pile.sum.allocated += split.allocated;
    pile.sum.productive += split.productive;
    if (traits.user != 0) pile.users.insert(traits.user);
    if (split.allocated <= pile.most) continue;
    pile.most = split.allocated;
    pile.sum.worst_job = usage.text(jobs.id(i));
  }
  std::vector<Failure> result;
  for (auto& [key, pile] : piles) {
    pile.sum.state = key.first;
    pile.sum.reason = usage.text(key.second);
    pile.sum.users = pile.users.size();
    result.push_back(std::move(pile.sum));
  }
  std::ranges::stable_sort(result, std::greater<>{}, &Failure::allocated);
  return result;
}

}  // namespace amdahl::scan
