#include "scan/policy.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"

namespace amdahl::scan {
namespace {

constexpr std::uint64_t kLeastHistory = 3;  // Jobs of a family, before one is judged by them.
constexpr double kLeastUse = 1e-3;          // Accelerator-seconds: less is rounding.
constexpr double kWrongShare = 0.1;         // Of hits, that a timeout may have wrongly.
constexpr double kRiskShare = 0.01;         // Of what it frees, that it may put at risk.

double productive(const Lane& lane) { return split_of(lane).productive; }

// Accelerator-seconds of a sample at full utilisation.
double seconds_a_sample(const Lane& lane) {
  return lane.samples == 0 ? 0 : to_seconds(lane.observed) * lane.weight / lane.samples;
}

// Whether each accelerator of the job was observed.
bool is_whole(const FleetUsage& usage, const FleetJob& job) {
  double weight = 0;
  for (const Lane& lane : usage.lanes_of(job)) {
    if (lane.samples == 0) return false;
    weight += lane.weight;
  }
  return weight > 0 && std::abs(weight - static_cast<double>(job.accelerators)) < 1e-3;
}

// While all accelerators of a job were idle; `used_before` in accelerator-seconds.
std::vector<IdleSpell> idle_together(const FleetUsage& usage, const FleetJob& job) {
  std::vector<IdleSpell> all;
  bool is_first = true;
  for (const Lane& lane : usage.lanes_of(job)) {
    const double each = seconds_a_sample(lane);
    std::vector<IdleSpell> both;
    std::size_t i = 0;
    for (const IdleSpell& spell : usage.spells_of(lane)) {
      if (is_first) {
        both.push_back({spell.first, spell.last, each * spell.used_before});
        continue;
      }
      while (i < all.size() && all[i].last < spell.first) ++i;
      for (std::size_t k = i; k < all.size() && all[k].first <= spell.last; ++k) {
        both.push_back({std::max(all[k].first, spell.first), std::min(all[k].last, spell.last),
                        all[k].used_before + each * spell.used_before});
      }
    }
    all = std::move(both);
    is_first = false;
    if (all.empty()) break;
  }
  return all;
}

Nanos end_of(const FleetUsage& usage, const FleetJob& job) {
  return std::min(job.end, usage.window.end);
}

std::optional<Hit> timeout_hit(const FleetUsage& usage, const FleetJob& job, Nanos limit,
                               const std::vector<IdleSpell>& spells, double used) {
  for (const IdleSpell& spell : spells) {
    if (spell.last - spell.first < limit) continue;
    Hit hit{.at = spell.first + limit};
    const double later = used - spell.used_before;
    hit.is_wrong = later > kLeastUse;
    hit.at_risk = hit.is_wrong ? later : 0;
    hit.recovered = hit.is_wrong ? 0
                                 : to_seconds(std::max(Nanos{}, end_of(usage, job) - hit.at)) *
                                       static_cast<double>(job.accelerators);
    return hit;
  }
  return std::nullopt;
}

// Jobs by family, in one block: of ten million jobs each byte counts.
class ByFamily {
 public:
  // Those that `is_of_use`, by start.
  template <class IsOfUse>
  ByFamily(const FleetUsage& usage, const Families& families, const IsOfUse& is_of_use,
           const Stop& stop)
      : firsts_(families.all.size() + 1) {
    const auto count = static_cast<std::uint32_t>(usage.jobs.size());
    for (std::uint32_t i = 0; i < count && !stop(i); ++i) {
      if (is_of_use(i)) ++firsts_[families.of_job[i] + 1];
    }
    std::partial_sum(firsts_.begin(), firsts_.end(), firsts_.begin());
    jobs_.resize(firsts_.back());
    std::vector<std::uint32_t> next(firsts_.begin(), firsts_.end() - 1);
    for (std::uint32_t i = 0; i < count && !stop(i); ++i) {
      if (!is_of_use(i)) continue;
      std::uint32_t& at = next[families.of_job[i]];
      if (at < jobs_.size()) jobs_[at++] = i;  // Not all were counted if it stopped.
    }
    const auto start = [&](std::uint32_t job) { return usage.jobs.start(job); };
    for (std::size_t family = 0; family < size(); ++family) {
      const auto from = jobs_.begin() + firsts_[family];
      const auto to = jobs_.begin() + firsts_[family + 1];
      if (!std::is_sorted(from, to, [&](auto a, auto b) { return start(a) < start(b); })) {
        std::stable_sort(from, to, [&](auto a, auto b) { return start(a) < start(b); });
      }
    }
  }

  std::size_t size() const { return firsts_.size() - 1; }
  std::span<const std::uint32_t> operator[](std::size_t family) const {
    return std::span(jobs_).subspan(firsts_[family], firsts_[family + 1] - firsts_[family]);
  }

 private:
  std::vector<std::uint32_t> firsts_;  // Of each family, and the end.
  std::vector<std::uint32_t> jobs_;
};

// In order of start: judge(job) when it begins, after learn(earlier) of all that ended before.
template <class Judge, class Learn>
void in_order(const FleetUsage& usage, std::span<const std::uint32_t> jobs, Judge judge,
              Learn learn) {
  using Ending = std::pair<Nanos, std::uint32_t>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> running;
  for (const std::uint32_t job : jobs) {
    while (!running.empty() && running.top().first <= usage.jobs.start(job)) {
      learn(running.top().second);
      running.pop();
    }
    judge(job);
    if (!usage.jobs.running(job)) running.emplace(usage.jobs.end(job), job);
  }
}

double seconds_in_window(const FleetUsage& usage, std::uint32_t job) {
  return to_seconds(std::min(usage.jobs.end(job), usage.window.end) -
                    std::max(usage.jobs.start(job), usage.window.start));
}

bool is_failed(model::JobState state) {
  return state == model::JobState::kFailed || state == model::JobState::kOutOfMemory;
}

bool is_decided(model::JobState state) {
  return is_failed(state) || state == model::JobState::kCompleted;
}

}  // namespace

std::uint64_t Replay::wrong() const {
  return static_cast<std::uint64_t>(std::ranges::count(hits, true, &Hit::is_wrong));
}

double Replay::recovered() const {
  double sum = 0;
  for (const Hit& hit : hits) sum += hit.recovered;
  return sum;
}

double Replay::at_risk() const {
  double sum = 0;
  for (const Hit& hit : hits) sum += hit.at_risk;
  return sum;
}

std::uint64_t Replay::users(const FleetUsage& usage) const {
  std::set<WordId> users;
  for (const Hit& hit : hits) {
    if (!hit.is_wrong) users.insert(usage.jobs.traits()[usage.jobs.traits_of(hit.job)].user);
  }
  users.erase(0);
  return users.size();
}

std::vector<Replay> replay_idle_timeouts(const FleetUsage& usage, const std::vector<Nanos>& limits,
                                         const Stop& stop) {
  std::vector<Replay> replays;
  for (const Nanos limit : limits) replays.push_back({.policy = "idle-timeout", .limit = limit});
  for (std::uint32_t i = 0; i < usage.jobs.size() && !stop(i); ++i) {
    if (usage.jobs.lanes(i) == 0) continue;
    const FleetJob job = usage.jobs[i];
    if (!is_whole(usage, job)) continue;
    double used = 0;
    for (const Lane& lane : usage.lanes_of(job)) used += productive(lane);
    const std::vector<IdleSpell> spells = idle_together(usage, job);
    for (Replay& replay : replays) {
      ++replay.judged;
      if (auto hit = timeout_hit(usage, job, replay.limit, spells, used)) {
        hit->job = i;
        replay.hits.push_back(*hit);
      }
    }
  }
  return replays;
}

Replay replay_right_size(const FleetUsage& usage, const Families& families, const Stop& stop) {
  Replay replay{.policy = "right-size"};
  // Accelerators that were used at all; whole ones only.
  const auto used_by = [&](std::uint32_t i) {
    double used = 0;
    for (const Lane& lane : usage.lanes_of(usage.jobs[i])) used += lane.idle < lane.samples ? 1 : 0;
    return used;
  };
  const auto is_of_use = [&](std::uint32_t i) {
    if (usage.jobs.lanes(i) == 0) return false;
    const FleetJob job = usage.jobs[i];
    return std::abs(static_cast<double>(job.accelerators) - job.lanes) < 1e-3 &&
           is_whole(usage, job);
  };
  const ByFamily by_family(usage, families, is_of_use, stop);
  for (std::size_t family = 0; family < by_family.size() && !stop(family); ++family) {
    std::uint64_t known = 0;
    double most = 0;
    const auto judge = [&](std::uint32_t i) {
      if (known < kLeastHistory) return;
      ++replay.judged;
      const auto asked = static_cast<double>(usage.jobs.accelerators(i));
      if (most >= asked) return;
      Hit hit{.job = i, .at = usage.jobs.start(i), .accelerators = most};
      hit.is_wrong = used_by(i) > most;
      if (!hit.is_wrong) hit.recovered = (asked - most) * seconds_in_window(usage, i);
      if (hit.is_wrong) hit.at_risk = usage.jobs.split(i).productive;
      replay.hits.push_back(hit);
    };
    const auto learn = [&](std::uint32_t i) {
      ++known;
      most = std::max(most, used_by(i));
    };
    in_order(usage, by_family[family], judge, learn);
  }
  return replay;
}

Replay replay_hold_failing(const FleetUsage& usage, const Families& families, const Stop& stop) {
  Replay replay{.policy = "hold-failing"};
  std::vector<std::uint64_t> failures(families.all.size());
  for (std::uint32_t i = 0; i < usage.jobs.size() && !stop(i); ++i) {
    failures[families.of_job[i]] += is_failed(usage.jobs.state(i)) ? 1 : 0;
  }
  const auto is_of_use = [&](std::uint32_t i) {
    return failures[families.of_job[i]] >= kLeastHistory && is_decided(usage.jobs.state(i));
  };
  const ByFamily by_family(usage, families, is_of_use, stop);
  for (std::size_t family = 0; family < by_family.size() && !stop(family); ++family) {
    std::uint64_t in_a_row = 0;
    const auto judge = [&](std::uint32_t i) {
      ++replay.judged;
      if (in_a_row < kLeastHistory) return;
      const bool is_wrong = !is_failed(usage.jobs.state(i));
      const Split split = usage.jobs.split(i);
      replay.hits.push_back({.job = i,
                             .at = usage.jobs.start(i),
                             .recovered = is_wrong ? 0 : split.allocated,
                             .at_risk = is_wrong ? split.productive : 0,
                             .is_wrong = is_wrong});
    };
    const auto learn = [&](std::uint32_t i) {
      in_a_row = is_failed(usage.jobs.state(i)) ? in_a_row + 1 : 0;
    };
    in_order(usage, by_family[family], judge, learn);
  }
  return replay;
}

std::size_t choose_timeout(const std::vector<Replay>& replays) {
  std::size_t best = replays.size();
  std::size_t fewest = replays.size();
  const auto wrong_share = [](const Replay& one) {
    return one.hits.empty()
               ? 0.0
               : static_cast<double>(one.wrong()) / static_cast<double>(one.hits.size());
  };
  for (std::size_t i = 0; i < replays.size(); ++i) {
    const Replay& one = replays[i];
    if (one.hits.empty()) continue;
    if (fewest == replays.size() || wrong_share(one) < wrong_share(replays[fewest])) fewest = i;
    if (wrong_share(one) > kWrongShare || one.at_risk() > kRiskShare * one.recovered()) continue;
    if (best == replays.size() || one.recovered() > replays[best].recovered()) best = i;
  }
  return best < replays.size() ? best : fewest;
}

Policies replay_policies(const FleetUsage& usage, const Families& families, Nanos asked,
                         const Stop& stop) {
  std::vector<Nanos> limits(kTimeouts.begin(), kTimeouts.end());
  if (asked > Nanos{} && !std::ranges::binary_search(limits, asked)) {
    limits.insert(std::ranges::upper_bound(limits, asked), asked);
  }
  Policies policies{.idle_timeouts = replay_idle_timeouts(usage, limits, stop),
                    .right_size = replay_right_size(usage, families, stop),
                    .hold_failing = replay_hold_failing(usage, families, stop)};
  policies.chosen =
      asked > Nanos{} ? static_cast<std::size_t>(std::ranges::find(limits, asked) - limits.begin())
                      : choose_timeout(policies.idle_timeouts);
  return policies;
}

std::string timeout_text(Nanos limit) {
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(limit).count();
  if (minutes % 1440 == 0) return fmt::format("{}d", minutes / 1440);
  return minutes % 60 == 0 ? fmt::format("{}h", minutes / 60) : fmt::format("{}m", minutes);
}

Result<Nanos> parse_policy(std::string_view text) {
  constexpr std::string_view kName = "idle-timeout=";
  const std::string wants = "--policy must be idle-timeout=60m (15m to 30d)";
  if (!text.starts_with(kName)) return bad_input(fmt::format("{}, not '{}'", wants, text));
  text.remove_prefix(kName.size());
  const std::size_t digits = text.find_first_not_of("0123456789");
  const auto number = to_number<double>(text.substr(0, digits));
  const std::string_view unit = digits == std::string_view::npos ? "" : text.substr(digits);
  const double seconds = unit == "m" || unit == "min" ? 60
                         : unit == "h"                ? 3600
                         : unit == "d"                ? 86400
                                                      : 0;
  if (!number || seconds == 0) return bad_input(fmt::format("{}, not '{}'", wants, text));
  const Nanos limit = from_seconds(std::min(*number, 1e6) * seconds);
  if (limit < kLeastSpell || limit > std::chrono::hours{720}) {
    return bad_input(fmt::format("{}, not '{}'", wants, text));
  }
  return limit;
}

}  // namespace amdahl::scan
