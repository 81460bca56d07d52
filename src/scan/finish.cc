#include "scan/finish.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "base/check.h"
#include "fleet/metrics.h"

namespace amdahl::scan {

using model::Trouble;

namespace {

// Of a metric that no accelerator has two samples of.
constexpr Time kUnknownCadence = Nanos{std::chrono::minutes{1}}.count();

}  // namespace

FleetUsage UsageAccumulator::finish() && {
  if (samples_ > 0) settle();  // Places are of no use without telemetry.
  return Finisher(*this).run();
}

FleetUsage Finisher::run() {
  usage_.idle_below = accumulator_.options_.idle_below;
  accumulator_.input_ = "all inputs";
  set_window();
  find_devices();
  count_shards();
  check_whole_hosts();
  gather();
  keep_best();
  weigh_slices();
  end_running();
  close_spells();
  tell_lanes();
  tell_beside();
  tell_passed_over();
  count_samples();
  tell_capacity();
  tell_down();
  tell_occupied();
  spell_hosts();
  split_jobs();
  tell_assumptions();
  usage_.jobs = accumulator_.jobs_.take();
  drop_outside();
  for (std::size_t i = 0; i < accumulator_.counts_.size(); ++i) {
    if (accumulator_.counts_[i] > 0) {
      usage_.troubles.push_back({static_cast<Trouble>(i), accumulator_.counts_[i]});
    }
  }
  usage_.complaints = std::move(accumulator_.complaints_);
  usage_.has_accounting = accumulator_.has_accounting_;
  usage_.samples = accumulator_.samples_;
  usage_.outside_samples = accumulator_.outside_;
  usage_.words = std::move(accumulator_.words_);
  return std::move(usage_);
}

void Finisher::find_devices() {
  for (SpotId spot = 0; spot < accumulator_.holders_.size(); ++spot) {
    const Spot& at = accumulator_.holders_[spot];
    if (!at.has_telemetry || !accumulator_.holders_.is_here(spot)) continue;
    if (at.slice != 0) ++slices_on_[at.device];
    // A slice that nobody has given a device is none itself.
    const bool is_slice =
        accumulator_.words_[accumulator_.holders_[at.device].accelerator].starts_with("MIG-");
    if (!is_slice) devices_.insert(at.device);
  }
}

// A job that had all accelerators of each of its hosts had those with telemetry, whichever index
// they have. If it had some of them it cannot be told which.
void Finisher::check_whole_hosts() {
  std::map<WordId, int> on_host;
  for (const SpotId device : devices_) ++on_host[accumulator_.holders_[device].host];
  std::map<WordId, int> told_on;
  for (const UsageAccumulator::Capacity& told : accumulator_.capacities_) {
    if (told.host != 0) told_on[told.host] = std::max(told_on[told.host], told.accelerators);
  }
  for (const auto& [host, count] : told_on) on_host[host] = count;
  std::vector<bool> unknown(accumulator_.jobs_.size());
  std::map<JobIndex, float> in_all;  // Of jobs whose hosts differ in size.
  for (const auto& [host, count] : on_host) {
    for (const Holders::HostClaim& claim : accumulator_.holders_.claims_on(host)) {
      in_all[claim.job] += static_cast<float>(count);
      if (std::abs(claim.accelerators - static_cast<float>(count)) > 1e-3F) {
        unknown[claim.job] = true;
      }
    }
  }
  for (const auto& [job, count] : in_all) {
    if (std::abs(count - accumulator_.jobs_[job].accelerators) < 1e-3F) unknown[job] = false;
  }
  is_valid_.resize(accumulator_.lanes_.size());
  for (std::size_t i = 0; i < accumulator_.lanes_.size(); ++i) {
    is_valid_[i] = !accumulator_.lanes_[i].whole_host || !unknown[accumulator_.lanes_[i].job];
  }
}

void Finisher::gather() {
  const Holders& holders = accumulator_.holders_;
  std::vector<bool> is_labelled(accumulator_.jobs_.size());  // Where those were is known.
  for (const LaneSum& lane : accumulator_.lanes_) {
    const Track& track = accumulator_.tracks_[lane.track];
    if (lane.samples > 0 && !track.is_beside && track.label != JobName::kNone) {
      is_labelled[lane.job] = true;
    }
  }
  for (std::size_t i = 0; i < accumulator_.lanes_.size(); ++i) {
    const LaneSum& lane = accumulator_.lanes_[i];
    if (lane.samples == 0 || accumulator_.tracks_[lane.track].is_beside) continue;
    const auto number = static_cast<std::uint32_t>(i);
    if (lane.whole_host && is_labelled[lane.job]) {
      pass_over(PassedOver::Why::kLabelled, number);
      continue;
    }
    if (!is_valid_[i]) {
      pass_over(PassedOver::Why::kUnplaced, number);
      continue;
    }
    const Track& track = accumulator_.tracks_[lane.track];
    const std::uint32_t worth = track.rank * 2U + (track.label == JobName::kNone ? 1U : 0U);
    candidates_.push_back({lane.job, holders[track.spot].device, track.spot, worth, number});
  }
  if (candidates_.empty()) return;  // No telemetry: places are of no use.
  for (SpotId spot = 0; spot < holders.size(); ++spot) {
    for (const JobIndex job : holders[spot].holders) {
      candidates_.push_back({job, holders[spot].device, spot, 0xFFFFFFFF, kNobody});
    }
  }
}

Time Finisher::covered_by(const Candidate& candidate) const {
  if (candidate.sum == kNobody) return 0;
  const LaneSum& lane = accumulator_.lanes_[candidate.sum];
  return std::max<Time>(0, lane.last - lane.first + cadence_of(lane) - lane.excess);
}

// Of candidates in order, all of one job and place: those that saw less than half of what another
// did stand behind the first that saw more.
void Finisher::prefer_covered() {
  for (auto first = candidates_.begin(); first != candidates_.end();) {
    auto end = first;
    Time most = 0;
    for (; end != candidates_.end() && end->job == first->job && end->spot == first->spot; ++end) {
      most = std::max(most, covered_by(*end));
    }
    const auto best =
        std::find_if(first, end, [&](const Candidate& c) { return covered_by(c) >= most / 2; });
    if (best != end) std::rotate(first, best, best + 1);
    first = end;
  }
}

// One lane a place and job: by the best metric that has samples of most of the time, or the place
// alone. Where slices of a device were observed, the whole of it does not count beside them.
void Finisher::keep_best() {
  const auto covered = [&](const Candidate& c) { return covered_by(c); };
  const auto is_whole = [](const Candidate& c) { return c.spot == c.device; };
  std::sort(candidates_.begin(), candidates_.end(), [&](const Candidate& a, const Candidate& b) {
    return std::tuple(a.job, a.device, is_whole(a), a.spot, a.sum == kNobody, a.worth, covered(b),
                      a.sum) < std::tuple(b.job, b.device, is_whole(b), b.spot, b.sum == kNobody,
                                          b.worth, covered(a), b.sum);
  });
  prefer_covered();
  std::size_t kept = 0;
  for (const Candidate& c : candidates_) {
    const Candidate* best = kept == 0 ? nullptr : &candidates_[kept - 1];
    if (!best || best->job != c.job || best->spot != c.spot) {
      candidates_[kept++] = c;
    } else if (c.sum != kNobody) {
      pass_over(PassedOver::Why::kBetter, c.sum, best->sum);
    }
  }
  candidates_.resize(kept);
  kept = 0;
  JobIndex job = kNoJob;  // Whose slices of which device have samples.
  SpotId device = 0;
  for (const Candidate& c : candidates_) {
    if (!is_whole(c) && c.sum != kNobody) {
      job = c.job;
      device = c.device;
    }
    if (is_whole(c) && c.job == job && c.device == device) {
      if (c.sum != kNobody) pass_over(PassedOver::Why::kSlices, c.sum);
      continue;
    }
    candidates_[kept++] = c;
  }
  candidates_.resize(kept);
}

void Finisher::pass_over(PassedOver::Why why, std::uint32_t lane, std::uint32_t better) {
  const LaneSum& sum = accumulator_.lanes_[lane];
  const Track& track = accumulator_.tracks_[sum.track];
  const Track none;
  const Track& instead =
      better == kNobody ? none : accumulator_.tracks_[accumulator_.lanes_[better].track];
  passed_over_[{why, track.metric, track.input, instead.metric, instead.input}] +=
      sum.samples - sum.shared;
}

void Finisher::tell_passed_over() {
  for (const auto& [what, samples] : passed_over_) {
    const auto& [why, metric, input, better, better_from] = what;
    if (samples == 0) continue;
    usage_.passed_over.push_back({why, metric, accumulator_.inputs_[input], better,
                                  accumulator_.inputs_[better_from], samples});
  }
}

double Finisher::share_of(SpotId spot) const {
  const Spot& at = accumulator_.holders_[spot];
  if (at.slice == 0) return 1;
  if (at.share > 0) return at.share;
  const auto slices = slices_on_.find(at.device);
  return slices == slices_on_.end() ? 1 : 1.0 / slices->second;
}

// Accounting that counts each slice as an accelerator is set right by what telemetry knows of them.
void Finisher::weigh_slices() {
  for (std::size_t i = 0; i < candidates_.size();) {
    FleetJob job = accumulator_.jobs_[candidates_[i].job];
    double shares = 0;
    std::size_t slices = 0;
    const std::size_t first = i;
    for (; i < candidates_.size() && candidates_[i].job == candidates_[first].job; ++i) {
      shares += share_of(candidates_[i].spot);
      slices += candidates_[i].spot != candidates_[i].device ? 1 : 0;
    }
    const auto lanes = static_cast<float>(i - first);
    if (slices == i - first && std::abs(job.accelerators - lanes) < 1e-6F) {
      job.accelerators = static_cast<float>(shares);
      accumulator_.jobs_.rows().set(candidates_[first].job, job);
    }
  }
}

Time Finisher::cadence_of(const LaneSum& lane) const {
  const Time own = accumulator_.cursors_[lane.track].cadence.usual;
  if (own > 0) return own;
  const Time others =
      accumulator_.metric_cadence_[accumulator_.tracks_[lane.track].metric_row].usual;
  return others > 0 ? others : kUnknownCadence;
}

// Spells that go on end with the last sample; then those of a lane stand together.
void Finisher::close_spells() {
  for (LaneSum& lane : accumulator_.lanes_) {
    if (lane.idle_since != kForever) accumulator_.end_idle(lane, lane.last);
  }
  std::ranges::stable_sort(accumulator_.spells_, {}, &LaneSpell::lane);
}

void Finisher::tell_lanes() {
  for (std::size_t i = 0; i < candidates_.size();) {
    std::size_t end = i;
    while (end < candidates_.size() && candidates_[end].job == candidates_[i].job) ++end;
    const FleetJob job = accumulator_.jobs_[candidates_[i].job];
    double shares = 0;
    for (std::size_t at = i; at < end; ++at) shares += share_of(candidates_[at].spot);
    accumulator_.jobs_.rows().set_lanes(candidates_[i].job,
                                        static_cast<std::uint32_t>(usage_.lanes.size()),
                                        static_cast<std::uint32_t>(end - i));
    double part = static_cast<double>(job.accelerators) / shares;
    if (part > 1 + 1e-6) part = 1;  // A job's accelerators are rounded.
    for (; i < end; ++i) tell_lane(candidates_[i], job, part * share_of(candidates_[i].spot));
  }
}

void Finisher::tell_lane(const Candidate& candidate, const FleetJob& job, double weight) {
  Lane lane;
  lane.job = candidate.job;
  lane.host = accumulator_.holders_.spelling(accumulator_.holders_[candidate.spot].host);
  lane.accelerator = accumulator_.holders_[candidate.spot].accelerator;
  if (const WordId slice = accumulator_.holders_[candidate.spot].slice; slice != 0) {
    const std::string name = std::string(accumulator_.words_[lane.accelerator]) + "/" +
                             std::string(accumulator_.words_[slice]);
    lane.accelerator = accumulator_.words_.intern(name);
  }
  lane.weight = weight;
  lane.allocated = allocated(job.start, job.end);
  if (candidate.sum != kNobody) {
    const LaneSum& sum = accumulator_.lanes_[candidate.sum];
    const Time cadence = cadence_of(sum);
    lane.metric = accumulator_.tracks_[sum.track].metric;
    lane.samples = sum.samples;
    lane.idle = sum.idle;
    lane.at_zero = sum.at_zero;
    lane.utilisation = sum.sum;
    lane.utilisation_idle = sum.sum_idle;
    lane.cadence = Nanos{cadence};
    Time lost = sum.excess;
    if (cadence > 0) {  // The ends are gaps like others.
      const Time before = sum.first - std::max(job.start, window().start).count();
      const Time after = std::min(job.end, window().end).count() - sum.last;
      lost += std::max<Time>(0, before - 2 * cadence) + std::max<Time>(0, after - 2 * cadence);
    }
    lane.observed = std::clamp(lane.allocated - Nanos{lost}, Nanos{}, lane.allocated);
    accumulator_.timelines_.give(sum, cadence, usage_.bins, lane);
    lane.spell = static_cast<std::uint32_t>(usage_.idle_spells.size());
    for (const LaneSpell& one :
         std::ranges::equal_range(accumulator_.spells_, candidate.sum, {}, &LaneSpell::lane)) {
      usage_.idle_spells.push_back(one.spell);
    }
    lane.spells = static_cast<std::uint32_t>(usage_.idle_spells.size()) - lane.spell;
    usage_.attributed += sum.samples;
  }
  usage_.lanes.push_back(lane);
}

void Finisher::split_jobs() {
  const bool has_telemetry = !usage_.lanes.empty() || accumulator_.samples_ > 0;
  JobRows& jobs = accumulator_.jobs_.rows();
  jobs.clip_to(window().start, window().end);
  for (JobIndex index = 0; index < jobs.size() && !stop_(index); ++index) {
    const double mean = accumulator_.jobs_.mean_of(index);
    const double whole = jobs.allocated(index);
    if (jobs.lanes(index) > 0 || !std::isnan(mean)) {
      jobs.set(index, split(jobs[index], whole, mean));
    } else {
      jobs.set_unobserved(index);
    }
    if (jobs.evidence(index) != Evidence::kSamples && has_telemetry && std::isnan(mean) &&
        whole > 0 && !accumulator_.holders_.is_placed(index)) {
      accumulator_.count(Trouble::kUnknownPlace);
    }
  }
}

FleetJob Finisher::split(FleetJob job, double whole, double mean) {
  std::map<WordId, std::uint64_t> metrics;
  Split& split = job.split;
  split = {};
  for (const Lane& lane : usage_.lanes_of(job)) {
    if (lane.samples == 0) continue;
    split += split_of(lane);
    const Split at_zero = split_at_zero(lane);
    job.idle_at_zero += at_zero.idle;
    job.low_at_zero += at_zero.low;
    metrics[lane.metric] += lane.samples;
  }
  if (!metrics.empty()) {
    job.evidence = Evidence::kSamples;
    job.metric = std::max_element(metrics.begin(), metrics.end(), [](auto& a, auto& b) {
                   return a.second < b.second;
                 })->first;
  }
  split.unobserved += whole - split.allocated;
  split.allocated = whole;
  if (split.unobserved < 1e-9 * whole) split.unobserved = 0;  // Rounding.
  if (metrics.empty() && !std::isnan(mean)) split_by_mean(job, mean);
  return job;
}

void Finisher::split_by_mean(FleetJob& job, double mean) {
  if (!(mean >= 0) || mean > 1 + 1e-3) return accumulator_.count(Trouble::kOutOfRange);
  mean = std::min(mean, 1.0);
  const double whole = job.split.allocated;
  job.evidence = Evidence::kMean;
  job.split.unobserved = 0;
  const bool is_idle = mean <= 0 || mean < usage_.idle_below;
  job.split.idle = is_idle ? whole : 0;
  job.split.productive = is_idle ? 0 : whole * mean;
  job.split.low = whole - job.split.idle - job.split.productive;
  job.idle_at_zero = mean == 0 ? whole : 0;
  job.low_at_zero = mean == 0 ? 0 : whole * (1 - mean);
}

// Jobs outside the window go; the lanes of those that stay follow them.
void Finisher::drop_outside() {
  JobRows& jobs = usage_.jobs;
  JobIndex kept = 0;
  std::uint32_t lane = 0;
  for (JobIndex i = 0; i < jobs.size() && !stop_(i); ++i) {
    const Nanos start = jobs.start(i);
    const Nanos end = jobs.end(i);
    const bool is_inside = start == end ? window().start <= start && start <= window().end
                                        : start < window().end && end > window().start;
    const bool is_counted = jobs.accelerators(i) > 0;  // Else shards of nobody knows what.
    const std::uint32_t lanes = jobs.lanes(i);
    if (lanes > 0) {
      const std::uint32_t first = jobs[i].lane;
      const JobIndex now = is_inside && is_counted ? kept : kNoJob;
      for (std::uint32_t k = 0; k < lanes; ++k) usage_.lanes[first + k].job = now;
    }
    if (!is_inside || !is_counted) {
      CHECK(jobs.split(i).allocated == 0);
      usage_.outside += is_counted ? 1 : 0;
      continue;
    }
    if (kept != i) jobs.move(i, kept);
    jobs.set_lanes(kept++, lane, lanes);
    lane += lanes;
  }
  jobs.shrink(kept);
  std::erase_if(usage_.lanes, [](const Lane& one) { return one.job == kNoJob; });
}

void Finisher::count_samples() {
  // Where accounting speaks of indices, a series that has none may have been anyone's.
  std::set<WordId> indexed;
  for (SpotId spot = 0; spot < accumulator_.holders_.size(); ++spot) {
    const Spot& at = accumulator_.holders_[spot];
    if (!at.is_named && !at.holders.empty()) indexed.insert(at.host);
  }
  for (std::size_t i = 0; i < accumulator_.tracks_.size(); ++i) {
    const Track& track = accumulator_.tracks_[i];
    if (track.is_beside) accumulator_.samples_ -= accumulator_.cursors_[i].unallocated;
    if (!track.is_used || track.is_beside) continue;
    const Spot& at = accumulator_.holders_[track.spot];
    const bool is_named =
        at.is_named && (at.host == 0 ? !indexed.empty() : indexed.contains(at.host));
    const Trouble why = track.is_unknown                ? Trouble::kUnknownJob
                        : track.label != JobName::kNone ? Trouble::kSkew
                        : is_named                      ? Trouble::kUnknownDevice
                                                        : Trouble::kNoJob;
    accumulator_.count(why, accumulator_.cursors_[i].unallocated);
  }
  // Samples are those of utilisation.
  for (const LaneSum& lane : accumulator_.lanes_) {
    if (accumulator_.tracks_[lane.track].is_beside) {
      accumulator_.samples_ -= lane.samples - lane.shared;
    }
  }
  if (usage_.attributed == 0) name_hosts();
}

// Where nothing was joined the two sides may not call their hosts the same.
void Finisher::name_hosts() {
  constexpr std::size_t kShown = 3;
  std::set<std::string> seen;
  for (const Track& track : accumulator_.tracks_) {
    const WordId host = accumulator_.holders_[track.spot].host;
    if (!track.is_used || track.label != JobName::kNone || host == 0) continue;
    if (accumulator_.holders_.is_told(host)) return;
    if (seen.size() < kShown)
      seen.emplace(accumulator_.words_[accumulator_.holders_.spelling(host)]);
  }
  std::set<std::string> told;
  const JobRows& jobs = accumulator_.jobs_.rows();
  for (JobIndex job = 0; job < jobs.size() && told.size() < kShown; ++job) {
    if (jobs.hosts(job) != 0) told.emplace(accumulator_.words_[jobs.hosts(job)]);
  }
  if (seen.empty() || told.empty()) return;
  accumulator_.complaints_.push_back(
      {Trouble::kNoJob, accumulator_.input_, 0, 0,
       fmt::format("samples are of {}; jobs ran on {}: no host is in both", fmt::join(seen, ", "),
                   fmt::join(told, ", "))});
}

}  // namespace amdahl::scan
