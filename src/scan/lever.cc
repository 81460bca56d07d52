#include "scan/lever.h"

#include <algorithm>
#include <array>
#include <functional>

#include "scan/base_rate.h"

namespace amdahl::scan {
namespace {

// What is known beforehand counts as four trials, so that one lucky or unlucky verdict moves it,
// but not far.
constexpr double kPriorTrials = 4;

double chance_from(double rate, const Memory& family, const Tried& lever) {
  return rate_after(rate_after(rate, lever), {.tried = family.tried, .won = family.won});
}

// What to expect of each kind of part: rules that were replayed tell it of sessions that do nothing
// and of accelerators that do nothing; of all others it is published.
using Rates = std::array<BaseRate, kPartKinds>;

BaseRate replayed(double recovered, double of, std::string_view source) {
  const double share = std::clamp(recovered / of, 0.0, 1.0);
  return {.mean = share, .lower = share, .upper = share, .source = source};
}

Rates rates_of(const PartSeconds& parts, const Policies& policies) {
  Rates rates;
  rates.fill(published_rate());
  const Replay* timeout = policies.idle_timeout();
  const double idle = parts[index(PartKind::kUnused)] + parts[index(PartKind::kTail)];
  if (timeout && idle > 0) {
    const BaseRate rate =
        replayed(timeout->recovered(), idle, "by replay of an idle timeout on these jobs");
    rates[index(PartKind::kUnused)] = rates[index(PartKind::kTail)] = rate;
  }
  const double partial = parts[index(PartKind::kPartial)];
  if (policies.right_size.judged > 0 && partial > 0) {
    rates[index(PartKind::kPartial)] = replayed(policies.right_size.recovered(), partial,
                                                "by replay of right-sizing on these jobs");
  }
  return rates;
}

struct FamilySum {
  double allocated = 0;
  double wasted = 0;
  PartSeconds parts{};
};

Tried tried_of(const Memories& memory, model::Bottleneck against) {
  const auto known = memory.levers.find(against);
  return known == memory.levers.end() ? Tried{} : known->second;
}

// Of what is not placed in time a lever is taken to reach as much as the waste has of the whole.
double reach(PartKind kind, const FamilySum& sum) {
  const double share = sum.parts[index(kind)] / sum.wasted;
  return kind == PartKind::kUnplaced ? share * sum.wasted / sum.allocated : share;
}

Lever lever_of(Lever::From from, model::Bottleneck against, double ceiling, const BaseRate& rate,
               const Memory& memory, const Memories& all) {
  const Tried such = tried_of(all, against);
  return {.from = from,
          .against = against,
          .action = "",
          .ceiling = ceiling,
          .chance = chance_from(rate.mean, memory, such),
          .chance_lower = chance_from(rate.lower, memory, such),
          .chance_upper = chance_from(rate.upper, memory, such),
          .basis = rate.source,
          .such = such,
          .here = {.tried = memory.tried, .won = memory.won}};
}

// Each with what it may return of the family's waste. Causes that a profile found come before what
// telemetry shows, which is then not asked.
std::vector<FamilyLever> levers_of(const FamilySum& sum, const Rates& rates, const Memory& memory,
                                   const Memories& all) {
  std::vector<FamilyLever> levers;
  if (sum.wasted <= 0 || sum.allocated <= 0) return levers;
  const auto add = [&](FamilyLever one, std::string_view action) {
    const double share = one.lever.ceiling * one.lever.chance;
    if (!(share > 0)) return;
    one.lever.action = action;
    one.lever.recoverable = sum.wasted * share;
    const double part = sum.parts[index(one.kind)];
    if (part > 0) one.gets = one.lever.recoverable / part;
    levers.push_back(one);
  };
  for (const KnownCause& cause : memory.causes) {
    add({.lever = lever_of(Lever::From::kProfile, cause.bottleneck, std::min(cause.share, 1.0),
                           published_rate(), memory, all)},
        "remove a cause that its profile found");
  }
  if (!levers.empty()) return levers;
  for (std::size_t k = 0; k < kPartKinds; ++k) {
    const auto kind = static_cast<PartKind>(k);
    const auto from = kind == PartKind::kUnplaced ? Lever::From::kShare : Lever::From::kAnatomy;
    add({.lever = lever_of(from, bottleneck_of(kind), std::min(1.0, reach(kind, sum)), rates[k],
                           memory, all),
         .kind = kind},
        action(kind));
  }
  return levers;
}

double promise(const FamilyLever& one) { return one.lever.ceiling * one.lever.chance; }

}  // namespace

double rate_after(double rate, const Tried& seen) {
  return (seen.won + kPriorTrials * rate) / (seen.tried + kPriorTrials);
}

double chance_of(const Memory& family, const Tried& lever) {
  return chance_from(published_rate().mean, family, lever);
}

namespace {

bool has_timeline(const FleetUsage& usage, const FleetJob& job) {
  return std::ranges::any_of(usage.lanes_of(job), [](const Lane& lane) { return lane.bins > 0; });
}

}  // namespace

JobParts::JobParts(const FleetUsage& usage, const Stop& stop) : usage_{usage} {
  for (std::uint32_t i = 0; i < usage.jobs.size() && !stop(i); ++i) {
    if (wasted(usage.jobs.split(i)) <= 0 || usage.jobs.lanes(i) == 0) continue;
    const FleetJob job = usage.jobs[i];
    if (!has_timeline(usage, job)) continue;
    jobs_.push_back(i);
    parts_.push_back(part_seconds(lines_of(usage, job)));
  }
}

PartSeconds JobParts::of(std::uint32_t job) const {
  if (wasted(usage_.jobs.split(job)) <= 0) return {};
  const auto at = std::ranges::lower_bound(jobs_, job);
  if (at == jobs_.end() || *at != job) return part_seconds(lines_of(usage_, usage_.jobs[job]));
  return parts_[static_cast<std::size_t>(at - jobs_.begin())];
}

Levers::Levers(const FleetUsage& usage, const Families& families, const Memories& memory,
               const Policies& policies, const Stop& stop)
    : usage_{usage}, families_{families}, parts_{usage, stop} {
  std::vector<FamilySum> sums(families.all.size());
  PartSeconds all{};
  for (std::uint32_t i = 0; i < usage.jobs.size() && !stop(i); ++i) {
    FamilySum& sum = sums[families.of_job[i]];
    const Split split = usage.jobs.split(i);
    sum.allocated += split.allocated;
    if (wasted(split) <= 0) continue;
    sum.wasted += wasted(split);
    const PartSeconds parts = parts_.of(i);
    std::ranges::transform(sum.parts, parts, sum.parts.begin(), std::plus<>{});
    std::ranges::transform(all, parts, all.begin(), std::plus<>{});
  }
  const Rates rates = rates_of(all, policies);
  for (std::size_t f = 0; f < sums.size() && !stop(f); ++f) {
    const auto known = memory.families.find(families.all[f].name);
    std::vector<FamilyLever> levers = levers_of(
        sums[f], rates, known == memory.families.end() ? Memory{} : known->second, memory);
    std::ranges::stable_sort(levers, std::greater<>{}, promise);
    levers_.push_back(levers.empty() ? FamilyLever{} : levers.front());
    std::vector<Lever>& told = all_.emplace_back();
    for (const FamilyLever& one : levers) told.push_back(one.lever);
  }
}

double Levers::recoverable(std::uint32_t job) const {
  const double waste = wasted(usage_.jobs.split(job));
  if (waste <= 0) return 0;
  const FamilyLever& family = levers_[families_.of_job[job]];
  switch (family.lever.from) {
    case Lever::From::kNothing:
      return 0;
    case Lever::From::kProfile:
      return waste * family.lever.ceiling * family.lever.chance;
    case Lever::From::kShare:
    case Lever::From::kAnatomy:
      return parts_.of(job)[index(family.kind)] * family.gets;
  }
  return 0;
}

}  // namespace amdahl::scan
