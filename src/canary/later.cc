#include "canary/later.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include "base/count.h"
#include "base/text.h"
#include "stats/local_level.h"

namespace amdahl::canary {
namespace {

constexpr double kNormal95 = 1.96;
constexpr double kFar = 3;  // Robust deviations from which a job is a straggler.

std::string month_of(Nanos at) {
  const auto day = std::chrono::floor<std::chrono::days>(std::chrono::sys_time<Nanos>(at));
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()));
}

bool ran_with(const LaterJob& job, const InEffect& change) {
  if (job.changes) {
    return std::ranges::find(*job.changes, change.hypothesis) != job.changes->end();
  }
  return job.start >= change.from && (change.until == Nanos{} || job.start < change.until);
}

// A job with which changes it ran: one number a change, 1 or 0.
struct Placed {
  const LaterJob* job = nullptr;
  std::vector<double> with{};
  bool any = false;
};

std::vector<Placed> place(std::span<const InEffect> changes, std::vector<LaterJob>& jobs) {
  std::ranges::sort(jobs, [](const LaterJob& a, const LaterJob& b) {
    return a.start != b.start ? a.start < b.start : a.id < b.id;
  });
  std::vector<Placed> placed;
  for (const LaterJob& job : jobs) {
    const bool twice =
        !placed.empty() && placed.back().job->id == job.id && placed.back().job->start == job.start;
    if (twice || job.failed || !(job.accelerator_s > 0)) continue;
    Placed one{.job = &job};
    for (const InEffect& change : changes) {
      one.with.push_back(ran_with(job, change) ? 1 : 0);
      one.any |= one.with.back() > 0;
    }
    placed.push_back(std::move(one));
  }
  return placed;
}

// Jobs with and without a count of their work cannot be compared: whichever are more count.
std::vector<const Placed*> comparable(const std::vector<Placed>& placed) {
  const auto counts = [](const Placed& p) { return p.job->work && *p.job->work > 0; };
  const auto with_work = std::ranges::count_if(placed, counts);
  const bool by_work = 2 * with_work > std::ssize(placed);
  std::vector<const Placed*> kept;
  for (const Placed& one : placed) {
    if (counts(one) == by_work) kept.push_back(&one);
  }
  return kept;
}

// Stragglers are moved among jobs that ran with the same changes: a step is no straggler.
std::vector<double> log_costs(const std::vector<const Placed*>& jobs) {
  std::map<std::vector<double>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < jobs.size(); ++i) groups[jobs[i]->with].push_back(i);
  std::vector<double> costs(jobs.size());
  for (const auto& [with, members] : groups) {
    std::vector<double> raw;
    for (const std::size_t i : members) {
      const LaterJob& job = *jobs[i]->job;
      raw.push_back(std::log(job.accelerator_s / (job.work ? *job.work : 1)));
    }
    const std::vector<double> moved = stats::winsorised(raw, kFar);
    for (std::size_t k = 0; k < members.size(); ++k) costs[members[k]] = moved[k];
  }
  return costs;
}

// ln(cost without / cost with) of these changes together: the model has ln(cost).
stats::EffectSum saved_by(const stats::Effects& effects, const std::vector<double>& with) {
  stats::EffectSum sum = stats::sum_of(effects, with);
  sum.mean = -sum.mean;
  return sum;
}

void add_months(const stats::Effects& effects, const std::vector<Placed>& placed, Realised& all) {
  std::map<std::vector<double>, stats::EffectSum> known;
  std::map<std::string, MonthSaved> months;
  for (const Placed& one : placed) {
    if (!one.any) continue;
    const auto [sum, _] = known.try_emplace(one.with, saved_by(effects, one.with));
    const double used = one.job->accelerator_s;
    const double wide = kNormal95 * sum->second.deviation;
    MonthSaved& month = months[month_of(one.job->start)];
    ++month.jobs;
    month.used += used;
    month.saved += used * std::expm1(sum->second.mean);
    // One estimate is behind all jobs of a kind, so that bounds add up.
    month.lower += used * std::expm1(sum->second.mean - wide);
    month.upper += used * std::expm1(sum->second.mean + wide);
  }
  for (auto& [name, month] : months) {
    month.month = name;
    all.months.push_back(std::move(month));
  }
}

void add_changes(const stats::Effects& effects, std::span<const InEffect> changes,
                 const std::vector<Placed>& placed, Realised& all) {
  for (std::size_t k = 0; k < changes.size(); ++k) {
    std::vector<double> alone(changes.size());
    alone[k] = 1;
    const stats::EffectSum sum = saved_by(effects, alone);
    Seen seen{.hypothesis = changes[k].hypothesis, .effect = sum.mean};
    seen.lower = sum.mean - kNormal95 * sum.deviation;
    seen.upper = sum.mean + kNormal95 * sum.deviation;
    seen.jobs = std::ranges::count_if(placed, [k](const Placed& p) { return p.with[k] > 0; });
    all.changes.push_back(std::move(seen));
  }
}

// The newest change in effect that costs more, alone or with all others in effect.
void raise_alarm(const stats::Effects& effects, std::span<const InEffect> changes, Realised& all) {
  std::vector<double> stack;
  for (const InEffect& change : changes) stack.push_back(change.until == Nanos{} ? 1 : 0);
  for (std::size_t k = changes.size(); k-- > 0;) {
    if (stack[k] == 0) continue;
    std::vector<double> alone(changes.size());
    alone[k] = 1;
    for (const std::vector<double>& which : {alone, stack}) {
      const stats::EffectSum sum = saved_by(effects, which);
      if (!(sum.mean + kAlarmDeviations * sum.deviation < 0)) continue;
      const double wide = kNormal95 * sum.deviation;
      all.alarm = changes[k].hypothesis;
      all.because = fmt::format(
          "{} with {} cost {} more than without ({} to {}, 95 %)",
          counted(all.changes[k].jobs, "later job"), which == alone ? "it" : "all promoted changes",
          show_percent(std::expm1(-sum.mean)), show_percent(std::expm1(-sum.mean - wide)),
          show_percent(std::expm1(-sum.mean + wide)));
      return;
    }
  }
}

}  // namespace

std::optional<Realised> realised(std::span<const InEffect> changes, std::vector<LaterJob> jobs) {
  if (changes.empty()) return std::nullopt;
  const std::vector<Placed> placed = place(changes, jobs);
  const std::vector<const Placed*> compared = comparable(placed);
  const auto with = static_cast<std::size_t>(std::ranges::count_if(compared, &Placed::any));
  if (with < kLeastJobs || compared.size() - with < kLeastJobs) return std::nullopt;
  std::vector<std::vector<double>> x;
  for (const Placed* one : compared) x.push_back(one->with);
  const auto effects = stats::local_level_effects(log_costs(compared), x);
  if (!effects) return std::nullopt;
  Realised all;
  add_months(*effects, placed, all);
  add_changes(*effects, changes, placed, all);
  raise_alarm(*effects, changes, all);
  return all;
}

}  // namespace amdahl::canary
