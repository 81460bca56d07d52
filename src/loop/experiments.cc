#include "loop/experiments.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/core.h>

#include "base/check.h"
#include "base/text.h"
#include "compare/compare.h"
#include "loop/evidence.h"
#include "model/plan.h"
#include "model/spec_digest.h"
#include "refute/replicate/replicate.h"
#include "stats/campaign.h"
#include "stats/eprocess.h"
#include "stats/promise.h"

namespace amdahl::loop {
namespace {

using model::NeverRuns;
using model::Purpose;
using model::Stage;

constexpr double kWinThreshold = compare::Design{}.win_threshold;
constexpr std::size_t kEnoughFresh = 200;  // Of steps; more would not change what they say.

// A log-ratio at most multiplies the evidence for anything by 1.97, so that many are needed for any
// verdict at all. A pair of many steps has many.
int pairs_certain(const compare::Judge& judge, const model::Experiment& e) {
  const double win = std::log(kWinThreshold);
  const double short_of = std::min({win - judge.log_e_win(), win - judge.log_e_worse(),
                                    std::log(1 / e.beta) - judge.log_e_futile()});
  return std::max(1, static_cast<int>(std::ceil(short_of / std::log(1.97))));
}

// Which parts of the registered experiment its family has changed since; empty if none. Unknown
// parts, then or now, do not count. At the gate all is measured, so later commits do not matter.
std::vector<std::string> what_changed(const model::Experiment& e, const FamilyRecord& family,
                                      Stage stage) {
  if (e.spec.empty()) {
    const bool same = e.metric.empty() || e.metric == family.spec.metric;
    return same ? std::vector<std::string>{} : std::vector<std::string>{"metric"};
  }
  std::map<std::string, std::string> of_spec = e.spec;
  std::vector<std::string> changed;
  for (const std::string_view what : {kEnvironment, kSource}) {
    const auto before = of_spec.extract(std::string(what));
    const auto now = family.ran_with.find(std::string(what));
    if (before.empty() || now == family.ran_with.end()) continue;
    if (what == kSource && stage == Stage::kGate) continue;
    if (before.mapped() != now->second) changed.emplace_back(what);
  }
  for (std::string& field : changed_fields(of_spec, family.spec)) {
    changed.push_back(std::move(field));
  }
  return changed;
}

// Whether the job of that experiment is not the one that runs today: what failed may be mended.
bool runs_another_job(const model::Experiment& e, const FamilyRecord& family) {
  constexpr std::string_view kJob[] = {"command", "env",   "workdir",    "repo",
                                       "build",   kSource, kEnvironment, "accelerators"};
  return std::ranges::any_of(
      what_changed(e, family, Stage::kCompare),
      [&](const std::string& part) { return std::ranges::find(kJob, part) != std::end(kJob); });
}

std::vector<double> ratios_of(const FamilyRecord& family) {
  std::vector<double> same;
  for (const auto* pairs : {&family.same, &family.same_before}) {
    for (const model::PairFact& pair : *pairs) {
      const std::vector<double> d = compare::log_ratios(pair, family.spec);
      same.insert(same.end(), d.begin(), d.end());
    }
  }
  return same;
}

// Not if the variant never ran (it may have been fixed since), and not if a pair was lost and
// neither arm is known to be the cause.
bool tells_of_the_change(const model::PairFact& pair) {
  const bool ran = pair.b.never_runs == NeverRuns::kNo || pair.b.never_runs == NeverRuns::kTooDear;
  return ran && fault_of(pair) != model::Fault::kUnknown;
}

// Whether several variants can share a run of the baseline, and all inputs are of one class.
bool can_race(const model::Spec& spec) {
  return spec.strata.empty() && spec.pairing != "concurrent" && spec.pairing != "steps";
}

// Pairs that point to harm settle it soon: harm that is proven is not tried again.
bool looks_harmful(const ExperimentState& x) {
  constexpr double kPoints = 3;  // E,
  constexpr double kFar = 2;     // or deviations.
  return x.effect < -stats::kSmallestGain &&
         (x.log_e_worse >= std::log(kPoints) || x.effect < -kFar * x.sigma);
}

}  // namespace

Experiments::Experiments(const Settings& settings, const CampaignRecord& campaign,
                         const Circumstances& circumstances)
    : campaign_{campaign.id}, seed_{campaign.seed}, circumstances_{circumstances} {
  state_.settings = settings;
  state_.campaign_open = !campaign.id.empty();
  state_.campaign = campaign.campaign;
  state_.registered = campaign.registered;
}

Result<> Experiments::add(FamilyRecord record) {
  Family family;
  family.digest = digest(TRY(make_plan(record.spec, record.baseline)));
  family.at = state_.families.size();
  record.state.same_pairs = static_cast<int>(record.same.size());
  record.state.same_before = static_cast<int>(record.same_before.size());
  for (const model::PairFact& pair : record.same) {
    family.last_same = std::max(family.last_same, pair.index);
  }
  state_.families.push_back(record.state);
  family.record = std::move(record);
  set_noise(family);
  const std::string name = family.record.spec.family;
  families_.insert_or_assign(name, std::move(family));
  return Ok{};
}

void Experiments::add(const model::Hypothesis& h, std::span<const EarlierTest> earlier) {
  const double gain = std::clamp(h.predicted_gain, 0.0, 0.99);
  state_.queued.push_back({h.id, h.family, -std::log1p(-gain), h.prior});
  const auto known = families_.find(h.family);
  if (known != families_.end() && can_race(known->second.record.spec)) {
    state_.queued.back().lane.setting = h.race;
  }
  ideas_.insert_or_assign(h.id, h);
  for (const EarlierTest& test : earlier) {
    const auto family = families_.find(h.family);
    if (family == families_.end()) break;
    if (runs_another_job(test.experiment, family->second.record)) continue;
    std::ranges::copy_if(test.pairs, std::back_inserter(before_[h.id]), tells_of_the_change);
  }
}

std::span<const model::PairFact> Experiments::before(const std::string& hypothesis) const {
  const auto it = before_.find(hypothesis);
  return it == before_.end() ? std::span<const model::PairFact>{} : it->second;
}

Result<> Experiments::add(const model::Experiment& e, Stage stage,
                          std::vector<model::Finding> votes,
                          std::optional<model::Comparison> compared, int resumed) {
  const auto idea = ideas_.find(e.hypothesis);
  const auto family = families_.find(e.family);
  if (idea == ideas_.end() || family == families_.end()) {
    return external("the hypothesis or the family of this experiment is not live");
  }
  const model::Spec& spec = family->second.record.spec;
  const auto a = make_plan(spec, e.baseline_change);
  const auto b = make_plan(spec, combine(e.baseline_change, idea->second.change));
  ExperimentState x;
  x.id = e.id;
  x.hypothesis = e.hypothesis;
  x.family = e.family;
  x.stage = stage;
  x.claim = e.claim;
  x.sigma = e.sigma;
  x.prior = idea->second.prior;
  x.cap = e.cap;
  x.careful = is_agents_patch(idea->second);
  x.spec_changed = join(what_changed(e, family->second.record, stage), ", ");
  if (a && b) {
    x.slots = spec.pairing == "concurrent" ? a->cpus + b->cpus : std::max(a->cpus, b->cpus);
  } else if (x.spec_changed.empty()) {
    x.spec_changed = (a ? b : a).error().text;
  }
  Track track(e);
  track.at = state_.experiments.size();
  track.resumed = resumed;
  track.votes = std::move(votes);
  track.compared = std::move(compared);
  state_.experiments.push_back(std::move(x));
  unqueue(e.hypothesis);
  family->second.live.insert(e.id);
  refresh(tracks_.insert_or_assign(e.id, std::move(track)).first->second);
  return Ok{};
}

void Experiments::began(const model::Pair& pair) {
  Family& family = families_.at(pair.family);
  FamilyState& f = state_.families[family.at];
  switch (pair.aim.purpose) {
    case Purpose::kSame:
      ++f.same_in_flight;
      family.last_same = std::max(family.last_same, pair.index);
      return;
    case Purpose::kProfile:
      f.profiling = true;
      return;
    case Purpose::kStack:
    case Purpose::kBuild:
      return;
    case Purpose::kRace:
      if (Queued* queued = racing(pair)) ++queued->lane.in_flight;
      break;
    case Purpose::kCompare:
    case Purpose::kReplicate:
    case Purpose::kTopUp:
      launch(pair);
      break;
  }
  for (const model::SharedVariant& variant : pair.shared) began(pair_of(variant, pair));
}

void Experiments::launch(const model::Pair& pair) {
  const auto it = tracks_.find(pair.experiment);
  if (it == tracks_.end()) return;  // It has its verdict.
  launch(it->second, pair);
  refresh(it->second);
}

void Experiments::launch(Track& track, const model::Pair& pair) {
  track.last_index = std::max(track.last_index, pair.index);
  if (!pair.stratum.empty()) ++track.dealt[pair.stratum];
  if (feeds_evidence(pair.aim.purpose)) {
    track.open.insert(pair.index);
    ++state_of(track).in_flight;
  } else {
    ++track.bought[pair.aim.target];
    ++state_of(track).top_up_in_flight;
  }
}

void Experiments::replay(const std::string& experiment, std::span<const model::Pair> pairs) {
  Track& track = tracks_.at(experiment);
  for (const model::Pair& pair : pairs) {
    launch(track, pair);
    if (!in_flight(pair)) count(track, pair);
  }
  track.wanted.clear();
  refresh(track);
}

void Experiments::ended(const model::Pair& pair) {
  Family& family = families_.at(pair.family);
  FamilyState& f = state_.families[family.at];
  switch (pair.aim.purpose) {
    case Purpose::kCompare:
    case Purpose::kReplicate:
    case Purpose::kTopUp:
      if (const auto it = tracks_.find(pair.experiment); it != tracks_.end()) {
        count(it->second, pair);
        refresh(it->second);
      }
      return;
    case Purpose::kProfile:
    case Purpose::kStack:
    case Purpose::kBuild:
      return;
    case Purpose::kRace:
      if (Queued* queued = racing(pair)) --queued->lane.in_flight;
      return raced(pair, true);
    case Purpose::kSame:
      break;
  }
  f.same_in_flight = std::max(0, f.same_in_flight - 1);
  if (pair.fact && !pair.fact->voided) {
    family.record.same.push_back(*pair.fact);
    ++f.same_pairs;
    f.same_failures = 0;
    set_noise(family);
  } else {
    ++f.same_failures;
  }
}

// One more pair is over; what is now a resolved prefix goes into the evidence.
void Experiments::count(Track& track, const model::Pair& pair) {
  ExperimentState& x = state_of(track);
  const Purpose purpose = pair.aim.purpose;
  const std::optional<model::PairFact>& fact = pair.fact;
  const bool good = fact && !fact->voided;
  track.last_index = std::max(track.last_index, pair.index);
  if (feeds_evidence(purpose)) {
    x.in_flight -= static_cast<int>(track.open.erase(pair.index));
  } else if (x.top_up_in_flight > 0) {
    --x.top_up_in_flight;
  }
  if (good) {
    if (purpose == Purpose::kCompare) ++x.compare_pairs;
    if (purpose == Purpose::kReplicate) ++x.replicate_pairs;
  } else if (purpose == Purpose::kTopUp && refute::target_of(pair.aim.target).same) {
    // The baseline against itself says nothing of this variant.
  } else if (fact && fact->a.failed) {
    ++x.baseline_failures;  // Whatever fails without the change is no fault of the change.
  } else if (fact && fact->b.failed) {
    ++x.variant_failures;
  } else {
    ++x.other_voids;
  }
  if (purpose == Purpose::kTopUp && !good) ++track.spoiled[pair.aim.target];
  if (fact) {
    // Twice without as many good pairs: a job that is slow now and then makes any variant dear.
    const int least = std::max(2, x.compare_pairs + x.replicate_pairs + 1);
    const bool dear = fact->b.never_runs == NeverRuns::kTooDear && x.variant_failures < least;
    if (!dear) x.never_runs = why_never(pair, *fact).value_or(x.never_runs);
    track.pairs.push_back(*fact);
    if (feeds_evidence(purpose) && good) {
      const model::Spec& spec = families_.at(x.family).record.spec;
      Waiting& waiting = track.waiting[pair.index];
      waiting.log_ratios = compare::log_ratios(*fact, as_registered(track.experiment, spec));
      waiting.fresh = purpose == Purpose::kReplicate;
      if (!waiting.fresh) x.compare_ratios += static_cast<int>(waiting.log_ratios.size());
    }
  }
}

// A variant that is faster must not decide by being early which pairs are looked at: only what
// lies before the first open pair counts.
void Experiments::judge_resolved(Track& track) {
  const auto end =
      track.open.empty() ? track.waiting.end() : track.waiting.lower_bound(*track.open.begin());
  if (track.judged && end == track.waiting.begin()) return;
  for (auto it = track.waiting.begin(); it != end; ++it) {
    for (const double d : it->second.log_ratios) {
      track.judge.fold(d);
      track.all.push_back(d);
      if (it->second.fresh) track.fresh.push_back(d);
    }
  }
  track.waiting.erase(track.waiting.begin(), end);
  track.judged = true;
  ExperimentState& x = state_of(track);
  x.answer = track.judge.answer();
  x.effect = track.judge.effect();
  x.log_e = track.judge.log_e_win();
  x.log_e_worse = track.judge.log_e_worse();
  x.pairs_certain = pairs_certain(track.judge, track.experiment);
  x.log_e_none = stats::log_e(
      track.all, {.sigma = x.sigma, .margin = stats::kSmallestGain, .side = stats::Side::kBelow});
  if (track.fresh.empty() || track.fresh.size() > kEnoughFresh) return;
  const double log_e = stats::log_e(track.fresh, {.sigma = x.sigma});
  x.replicated = refute::replicate::rule(track.fresh, log_e, x.effect).vote;
}

// What A/A pairs say by now; parked experiments go on when it falls.
void Experiments::set_noise(Family& family) {
  family.noise = noise_of(ratios_of(family.record));
  state_.families[family.at].noise = family.noise;
  for (const std::string& id : family.live) refresh(tracks_.at(id));
}

bool Experiments::is_parked(const ExperimentState& x) const {
  const bool told = x.answer == model::Answer::kBetter || x.answer == model::Answer::kWorse ||
                    x.log_e_none >= std::log(kForGood);
  if (x.stage != Stage::kCompare || told || x.asked_for) return false;
  if (x.compare_ratios >= x.cap || !pays(state_, x)) return true;
  if (x.compare_pairs == 0 || looks_harmful(x)) return false;
  return x.promise < state_.settings.parked_below;
}

void Experiments::refresh(Track& track) {
  judge_resolved(track);
  ExperimentState& x = state_of(track);
  const Family& family = families_.at(x.family);
  x.promise = stats::promise(track.all, {.sigma = x.sigma,
                                         .sigma_ahead = std::min(x.sigma, family.noise),
                                         .claim = x.claim,
                                         .prior = x.prior,
                                         .log_e = x.log_e,
                                         .log_level = promotion_level(state_)});
  x.asked_for = track.resumed > 0 && x.compare_ratios < track.resumed + x.cap;
  x.parked = is_parked(x);
  x.baseline_moved = family.digest != track.experiment.baseline;
  x.vetoed = x.careful && x.stage == Stage::kCompare && x.compare_pairs > 0 &&
             early_veto(refute::ask_all(evidence(x.id, false)));
  x.top_up_missing.clear();
  x.passed = x.wants_top_up = false;
  if (x.stage != Stage::kHold && x.stage != Stage::kTopUp) return;
  // While pairs are on their way the panel has not been asked anew: it wants what it wanted.
  if (x.top_up_in_flight == 0 || track.wanted.empty()) {
    const refute::Evidence known = gather(track, track.judge.peek(), false);
    track.wanted = wanted(track, track.votes, known);
    track.beyond_pairs = !refute::beyond_pairs(track.votes, known).empty();
  }
  std::map<std::string, int> to_buy = missing(track, track.wanted);
  if (x.stage == Stage::kTopUp) {
    x.top_up_missing = std::move(to_buy);
    return;
  }
  const refute::Outcome outcome =
      refute::combine(track.votes, true, !track.bought.empty() || to_buy.empty()).outcome;
  const bool on = !track.beyond_pairs &&
                  (outcome == refute::Outcome::kSurvives || outcome == refute::Outcome::kTopUp);
  x.passed = on && to_buy.empty();
  x.wants_top_up = on && !to_buy.empty();
}

void Experiments::set_stage(Track& track, Stage stage) {
  state_of(track).stage = stage;
  refresh(track);
}

void Experiments::remove(const std::string& experiment) {
  const auto it = tracks_.find(experiment);
  CHECK(it != tracks_.end());
  const std::size_t at = it->second.at;
  ideas_.erase(it->second.experiment.hypothesis);
  before_.erase(it->second.experiment.hypothesis);
  families_.at(it->second.experiment.family).live.erase(experiment);
  tracks_.erase(it);
  if (at + 1 < state_.experiments.size()) {
    state_.experiments[at] = std::move(state_.experiments.back());
    tracks_.at(state_.experiments[at].id).at = at;
  }
  state_.experiments.pop_back();
}

void Experiments::unqueue(const std::string& hypothesis) {
  const auto it = std::ranges::find(state_.queued, hypothesis, &Queued::hypothesis);
  if (it == state_.queued.end()) return;
  std::swap(*it, state_.queued.back());
  state_.queued.pop_back();
}

const model::Experiment& Experiments::experiment(const std::string& id) const {
  return tracks_.at(id).experiment;
}

std::string Experiments::title_of(const std::string& experiment) const {
  const auto it = tracks_.find(experiment);
  return it == tracks_.end() ? "" : ideas_.at(it->second.experiment.hypothesis).title;
}

std::string Experiments::title_of(const model::Pair& pair) const {
  if (pair.aim.purpose != Purpose::kRace) return title_of(pair.experiment);
  const auto it = ideas_.find(pair.aim.target);
  return it == ideas_.end() ? "" : it->second.title;
}

std::string Experiments::family_of(const Intent& intent) const {
  return std::visit(
      [&](const auto& one) -> std::string {
        if constexpr (requires { one.experiment; }) {
          const auto it = tracks_.find(one.experiment);
          return it == tracks_.end() ? "" : it->second.experiment.family;
        } else if constexpr (requires { one.hypothesis; }) {
          const auto it = ideas_.find(one.hypothesis);
          return it == ideas_.end() ? "" : it->second.family;
        } else if constexpr (requires { one.family; }) {
          return one.family;
        } else {
          return "";
        }
      },
      intent);
}

model::Comparison Experiments::comparison(const std::string& id) const {
  return tracks_.at(id).judge.comparison();
}

refute::Evidence Experiments::evidence(const std::string& id, bool topped_up) const {
  const Track& track = tracks_.at(id);
  return gather(track, track.judge.comparison(), topped_up);
}

refute::Evidence Experiments::gather(const Track& track, model::Comparison comparison,
                                     bool topped_up) const {
  const FamilyRecord& family = families_.at(track.experiment.family).record;
  refute::Evidence evidence;
  evidence.spec = &family.spec;
  evidence.experiment = track.experiment;
  evidence.comparison = std::move(comparison);
  evidence.pairs = track.pairs;
  std::ranges::sort(evidence.pairs, {}, &model::PairFact::index);
  evidence.same = family.same;
  describe(ideas_.at(track.experiment.hypothesis), family.doses, evidence);
  evidence.price_accelerator_hour = circumstances_.price_accelerator_hour;
  evidence.price_cpu_hour = circumstances_.price_cpu_hour;
  const auto earlier = before(track.experiment.hypothesis);
  evidence.before.assign(earlier.begin(), earlier.end());
  PastRuns past{family.past_runs, family.past_failed, family.past_lost};
  for (const model::PairFact& pair : earlier) add_run(pair.a, past);
  for (const model::PairFact& pair : track.pairs) add_run(pair.a, past);
  evidence.usual_failures = usual_failures(past, false);
  evidence.usual_own_failures = usual_failures(past, true);
  evidence.topped_up = topped_up;
  return evidence;
}

}  // namespace amdahl::loop
