#include "loop/next.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <unordered_map>

#include <fmt/core.h>

#include "loop/race_plan.h"
#include "stats/campaign.h"
#include "stats/promise.h"

namespace amdahl::loop {
namespace {

constexpr int kFirstPairs = 2;  // Fewer say nothing.
// So many times the worth of another, an idea is tested alone: its promotion would end the other
// test, and the runs spent on that would be lost.
constexpr double kLeads = 2.5;
constexpr double kLikely = 6;  // E, which three clear pairs give.

using model::Answer;
using model::Purpose;
using model::Stage;
using model::VerdictKind;

double worth_in(const State& state, const FamilyState* family, stats::Prospect prospect) {
  if (!family) return 0;
  prospect.volume =
      std::max(1e-6, family->volume_accelerator_h_per_day * state.settings.horizon_days);
  prospect.cost_per_pair = std::max(1e-9, family->pair_cost_s / 3600);
  prospect.log_threshold = stats::promotion_log_threshold(state.campaign);
  return stats::budget_index(prospect);
}

stats::Prospect prospect_of(const ExperimentState& x) {
  return {.log_e = x.log_e,
          .pairs = x.compare_pairs + x.replicate_pairs,
          .effect = x.effect,
          .claim = x.claim,
          .sigma = x.sigma,
          .prior = x.prior};
}

stats::Prospect prospect_of(const Queued& q) { return {.claim = q.claim, .prior = q.prior}; }

// One look at the state: families by name, and what each open question is worth, worked out once.
class Planner {
 public:
  explicit Planner(const State& state);

  std::vector<Intent> plan() &&;

 private:
  struct Family {
    const FamilyState* state = nullptr;
    int active = 0;  // Experiments that take part in its share of the slots.
    bool waits_for_same = false;
    bool has_win = false;  // One that is being replicated, or that has what its panel asked for.
    double best = 0;       // Worth of the best that is active.
    std::vector<std::pair<double, const Queued*>> waiting;
  };

  struct Entry {
    double worth = 0;
    const ExperimentState* experiment = nullptr;
    const Family* family = nullptr;  // Null if it is gone.
  };

  void for_families();
  void for_experiment(const Entry& entry);
  void in_compare(const Entry& entry);
  void in_refute(const Entry& entry);
  void in_top_up(const ExperimentState& x);
  void wish(const ExperimentState& x, Purpose purpose, int wanted);
  void when_idle();
  bool give_up(const ExperimentState& x);
  void promotions();
  void campaign();
  void registrations(Family& family);
  bool is_hopeless(const FamilyState& family, const Queued& queued) const;
  bool waits_for_win(const Family* family) const {
    return settings_.wins_first && family && family->has_win;
  }
  bool pays(const FamilyState* family, double worth) const {
    return !family || !family->volume_known || worth >= settings_.worth_at_least;
  }

  const State& state_;
  const Settings& settings_;
  double log_level_;  // ln E that a promotion on its own would need.
  std::vector<Family> families_;
  std::unordered_map<std::string_view, Family*> by_name_;
  std::vector<Entry> entries_;
  std::vector<Intent> out_;
};

// An experiment's noise is fixed when it is registered. Taken too small, chance looks like proof
// that there is no effect, so the few A/A pairs that tell it come first.
bool knows_noise(const Settings& settings, const FamilyState& family) {
  // In a block a variant may slow all that runs after it: some A/A pairs stay by themselves.
  const int before = settings.same_in_blocks ? 0 : family.same_before;
  return family.same_pairs + before >= std::min(settings.same_wanted, settings.same_first) ||
         has_same(settings, family);
}

// Whether it has its fresh pairs and waits for A/A pairs alone.
bool waits_for_same(const Settings& settings, const ExperimentState& x) {
  if (x.stage != Stage::kRefute) return false;
  return !settings.same_in_blocks || x.replicate_pairs + x.in_flight >= settings.replicate_at_least;
}

bool is_win(const ExperimentState& x) {
  return (x.stage == Stage::kRefute || x.stage == Stage::kTopUp) && !x.baseline_moved;
}

Planner::Planner(const State& state)
    : state_{state},
      settings_{state.settings},
      log_level_{stats::promotion_log_threshold(state.campaign)},
      families_(state.families.size()) {
  for (std::size_t i = 0; i < state.families.size(); ++i) {
    families_[i].state = &state.families[i];
    by_name_.emplace(state.families[i].name, &families_[i]);
  }
  entries_.reserve(state.experiments.size());
  for (const ExperimentState& x : state.experiments) {
    const auto family = by_name_.find(x.family);
    entries_.push_back({0, &x, family == by_name_.end() ? nullptr : family->second});
    if (family == by_name_.end()) continue;
    entries_.back().worth = worth_in(state, family->second->state, prospect_of(x));
    family->second->active += is_active(x) ? 1 : 0;
    family->second->has_win |= is_win(x);
    if (is_active(x)) family->second->best = std::max(family->second->best, entries_.back().worth);
    family->second->waits_for_same |=
        waits_for_same(settings_, x) && !has_same(settings_, *family->second->state);
  }
  for (const Queued& q : state.queued) {
    const auto family = by_name_.find(q.family);
    if (family == by_name_.end()) continue;
    family->second->waits_for_same |=
        family->second->state->profiled && !knows_noise(settings_, *family->second->state);
    family->second->waiting.emplace_back(worth_in(state, family->second->state, prospect_of(q)),
                                         &q);
  }
}

// Counts unusable pairs by cause: the variant, the baseline, anything else.
bool Planner::give_up(const ExperimentState& x) {
  const int good = x.compare_pairs + x.replicate_pairs;
  // What fails as a canary costs no second pair.
  const int allowed = x.careful && good == 0 && x.variant_failures > 0 && x.baseline_failures == 0
                          ? 1
                          : settings_.failures_allowed;
  if (x.variant_failures >= allowed && x.variant_failures > good) {
    out_.push_back(Close{x.id, VerdictKind::kInvalid,
                         fmt::format("the variant failed in {} of {} pairs", x.variant_failures,
                                     x.variant_failures + good)});
    return true;
  }
  if (x.baseline_failures >= allowed && x.baseline_failures > good) {
    out_.push_back(Close{x.id, VerdictKind::kAborted,
                         fmt::format("the baseline failed in {} pairs", x.baseline_failures)});
    return true;
  }
  if (x.other_voids >= 2 * allowed && x.other_voids > good) {
    out_.push_back(
        Close{x.id, VerdictKind::kAborted,
              fmt::format("{} pairs were lost or could not be measured", x.other_voids)});
    return true;
  }
  return false;
}

void Planner::wish(const ExperimentState& x, Purpose purpose, int wanted) {
  if (wanted > x.in_flight) {
    out_.push_back(RunPair{x.id, purpose, "", x.slots, wanted - x.in_flight});
  }
}

// Every pair that is granted before another's answer is known may turn out not to be needed: the
// longer it has taken so far, the less it matters.
int pairs_at_once(const ExperimentState& x) {
  if (x.careful && x.compare_pairs == 0) return 1;
  return x.compare_pairs < kFirstPairs ? kFirstPairs : std::clamp(x.compare_pairs / 12, 1, 3);
}

void Planner::in_compare(const Entry& entry) {
  const ExperimentState& x = *entry.experiment;
  // Fresh pairs count as much as others, so that where one person waits they begin early.
  const bool likely = settings_.wins_first && x.in_flight == 0 && x.log_e >= std::log(kLikely);
  if (x.answer == Answer::kBetter || likely || x.vetoed) {
    out_.push_back(Advance{x.id, Stage::kRefute});
    return;
  }
  if (x.answer == Answer::kWorse) {
    out_.push_back(Close{x.id, VerdictKind::kHarmful, ""});
    return;
  }
  // What saves too little may do harm, which is worth a few pairs more to know.
  const bool may_harm = x.effect < -stats::kSmallestGain && x.compare_ratios < x.cap;
  if (x.log_e_none >= std::log(kForGood) && !may_harm) {
    out_.push_back(Close{x.id, VerdictKind::kNoEffect, ""});
    return;
  }
  if (waits_for_win(entry.family)) return;
  if (!x.parked) wish(x, Purpose::kCompare, pairs_at_once(x));
}

// What is parked, and claims that only the campaign's level holds back, go on with the evidence
// they have where a slot would be idle otherwise; the most promising first.
void Planner::when_idle() {
  std::vector<const ExperimentState*> waiting;
  for (const ExperimentState& x : state_.experiments) {
    const bool held = x.stage == Stage::kHold && (x.passed || x.wants_top_up) &&
                      x.replicate_pairs < settings_.idle_caps * settings_.replicate_at_most;
    const bool parked =
        x.parked && x.compare_ratios < settings_.idle_caps * x.cap && loop::pays(state_, x);
    if (!parked && !held) continue;
    const bool stays = x.baseline_moved || !x.spec_changed.empty() || !x.never_runs.empty();
    if (!stays && x.promise >= settings_.idle_from) waiting.push_back(&x);
  }
  std::ranges::sort(waiting, [](const ExperimentState* a, const ExperimentState* b) {
    return a->promise != b->promise ? a->promise > b->promise : a->id < b->id;
  });
  for (const ExperimentState* x : waiting) {
    wish(*x, x->parked ? Purpose::kCompare : Purpose::kReplicate, 1);
  }
}

// Fresh pairs until they say something of the claim and the campaign's level is reached, or that
// they refute it.
void Planner::in_refute(const Entry& entry) {
  const ExperimentState& x = *entry.experiment;
  const bool enough_evidence = x.log_e >= log_level_;
  const bool open = x.replicated == model::Vote::kAbstain;
  const bool refuted = x.replicated == model::Vote::kRefute;
  const bool more = x.replicate_pairs < settings_.replicate_at_least ||
                    (x.replicate_pairs < settings_.replicate_at_most && !refuted &&
                     (!enough_evidence || open) && x.promise >= settings_.idle_from);
  if (more) {
    // A pair at most doubles the evidence, so that many more are certain to be needed.
    const double doublings = (log_level_ - x.log_e) / std::log(1.97);
    const int wanted = std::clamp(std::max(settings_.replicate_at_least - x.replicate_pairs,
                                           static_cast<int>(std::ceil(doublings))),
                                  1, settings_.replicate_at_most - x.replicate_pairs);
    wish(x, Purpose::kReplicate, wanted);
    return;
  }
  const bool waits = entry.family && !has_same(settings_, *entry.family->state);
  if (x.in_flight > 0 || waits || x.attacks_open > 0) return;
  out_.push_back(AskPanel{x.id, log_level_});
}

void Planner::in_top_up(const ExperimentState& x) {
  for (const auto& [check, missing] : x.top_up_missing) {
    out_.push_back(RunPair{x.id, Purpose::kTopUp, check, x.slots, missing});
  }
  if (x.top_up_missing.empty() && x.top_up_in_flight == 0 && x.in_flight == 0) {
    out_.push_back(AskPanel{x.id, log_level_});
  }
}

void Planner::for_experiment(const Entry& entry) {
  const ExperimentState& x = *entry.experiment;
  if (!x.never_runs.empty()) {
    out_.push_back(Close{x.id, VerdictKind::kInvalid, x.never_runs});
    return;
  }
  if (!x.spec_changed.empty()) {
    out_.push_back(Close{x.id, VerdictKind::kAborted,
                         fmt::format("the family's spec changed during the test ({}); it can be "
                                     "tested again under the new spec",
                                     x.spec_changed)});
    return;
  }
  if (x.baseline_moved) {
    if (x.in_flight > 0 || x.top_up_in_flight > 0) return;
    out_.push_back(Close{x.id, VerdictKind::kAborted,
                         "the family's baseline moved during the test; it can be tested again on "
                         "the new baseline"});
    return;
  }
  if (give_up(x)) return;
  switch (x.stage) {
    case Stage::kCompare:
      return in_compare(entry);
    case Stage::kRefute:
      return in_refute(entry);
    case Stage::kTopUp:
      return in_top_up(x);
    case Stage::kHold:  // Left to promotions().
    case Stage::kGate:  // Left to a person.
      return;
  }
}

// Claims on hold only because E is below the campaign's threshold. The threshold falls with each
// promotion. Each claim must reach it by itself: if claims passed as a group, some of the group
// might be rejected later. Missing targeted pairs are run once the threshold is reached.
void Planner::promotions() {
  for (const ExperimentState& x : state_.experiments) {
    if (x.stage != Stage::kHold || x.baseline_moved || x.log_e < log_level_) continue;
    if (x.passed) out_.push_back(AskPanel{x.id, log_level_});
    if (x.wants_top_up) out_.push_back(Advance{x.id, Stage::kTopUp});
  }
}

// A full campaign ends when none of its hypotheses is under test. Claims still below its threshold
// are closed as inconclusive. Then the next campaign may begin.
void Planner::campaign() {
  const bool full = state_.registered >= state_.campaign.hypotheses;
  const bool waiting = std::ranges::any_of(families_, [&](const Family& family) {
    return family.state->profiled && !family.waiting.empty();
  });
  if (!waiting || (state_.campaign_open && !full)) return;
  const bool busy = std::ranges::any_of(state_.experiments, [](const ExperimentState& x) {
    return is_active(x) || x.stage == Stage::kGate;
  });
  // A family without a profile must not block the others: its profile may never come.
  const bool deciding = std::ranges::any_of(out_, [](const Intent& intent) {
    return !std::holds_alternative<Profile>(intent) && !std::holds_alternative<RunSame>(intent);
  });
  if (busy || deciding) return;
  for (const ExperimentState& x : state_.experiments) {
    out_.push_back(Close{x.id, VerdictKind::kInconclusive,
                         fmt::format("its campaign of {} hypotheses ended before there was enough "
                                     "evidence",
                                     state_.campaign.hypotheses)});
  }
  if (state_.experiments.empty()) out_.push_back(OpenCampaign{});
}

// First what the last scan chose, then what follows; the others as they are.
void Planner::for_families() {
  std::vector<const Family*> ordered;
  for (const Family& family : families_) ordered.push_back(&family);
  std::ranges::stable_sort(ordered, {}, [](const Family* f) { return f->state->place; });
  for (const Family* family : ordered) {
    const FamilyState& f = *family->state;
    if (!f.profiled && !f.profiling && f.profile_failures < settings_.failures_allowed) {
      out_.push_back(Profile{f.name});
    }
  }
  // A/A pairs are background work, but a claim that waits for them makes them urgent.
  for (const Family* family : ordered) {
    const FamilyState& f = *family->state;
    if (!family->waits_for_same || !may_run_same(settings_, f)) continue;
    const bool few = settings_.same_in_blocks && !knows_noise(settings_, f);
    const int wanted =
        few ? std::min(settings_.same_first, settings_.same_wanted) : settings_.same_wanted;
    for (int i = f.same_pairs + f.same_in_flight; i < wanted; ++i) {
      out_.push_back(RunSame{f.name, f.slots});
    }
  }
}

// Whether the noise would hide what it may save, however long it is tested.
bool Planner::is_hopeless(const FamilyState& family, const Queued& queued) const {
  return settings_.wins_first &&
         stats::promise({}, {.sigma = family.noise,
                             .claim = queued.claim,
                             .prior = queued.prior,
                             .log_level = log_level_}) < settings_.idle_from;
}

void Planner::registrations(Family& family) {
  if (!family.state->profiled || family.waiting.empty() || waits_for_win(&family)) return;
  std::ranges::sort(family.waiting, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second->hypothesis < b.second->hypothesis;
  });
  int room = settings_.per_family - family.active;
  std::set<std::string> races;  // Settings whose values are not tested yet.
  for (const auto& [worth, queued] : family.waiting) {
    if (!pays(family.state, worth)) {
      out_.push_back(Drop{queued->hypothesis, worth});
      continue;
    }
    const bool is_led = settings_.wins_first && family.best > kLeads * worth;
    if (is_led || is_hopeless(*family.state, *queued)) continue;
    family.best = std::max(family.best, worth);
    if (races.contains(queued->lane.setting)) continue;
    const bool room_for_it = knows_noise(settings_, *family.state) && room-- > 0 &&
                             state_.campaign_open && state_.registered < state_.campaign.hypotheses;
    const Race race{family.state->name, family.state->noise, settings_.block_variants, room_for_it};
    if (auto intents = settle_race(race, family.waiting, *queued)) {
      races.insert(queued->lane.setting);
      std::ranges::move(*intents, std::back_inserter(out_));
    } else if (room_for_it) {
      out_.push_back(Register{queued->hypothesis});
    }
  }
}

std::vector<Intent> Planner::plan() && {
  out_.reserve(entries_.size() + families_.size());
  for_families();
  std::ranges::sort(entries_, [](const Entry& a, const Entry& b) {
    return a.worth != b.worth ? a.worth > b.worth : a.experiment->id < b.experiment->id;
  });
  for (const Entry& entry : entries_) for_experiment(entry);
  promotions();
  campaign();
  for (Family& family : families_) registrations(family);
  for (const Family& family : families_) {
    const FamilyState& f = *family.state;
    const bool joins = settings_.same_in_blocks;
    if (!joins && f.profiled && !family.waits_for_same && may_run_same(settings_, f)) {
      out_.push_back(RunSame{f.name, f.slots});
    }
  }
  when_idle();
  return std::move(out_);
}

const FamilyState* find_family(const State& state, const std::string& name) {
  const auto it = std::ranges::find(state.families, name, &FamilyState::name);
  return it == state.families.end() ? nullptr : &*it;
}

}  // namespace

bool is_active(const ExperimentState& x) {
  if (x.parked) return false;
  switch (x.stage) {
    case Stage::kCompare:
    case Stage::kRefute:
    case Stage::kTopUp:
      return true;
    case Stage::kHold:
    case Stage::kGate:
      return false;
  }
  return false;
}

bool has_same(const Settings& settings, const FamilyState& family) {
  return family.same_pairs >= settings.same_wanted ||
         family.same_failures >= 2 * settings.failures_allowed;
}

bool may_run_same(const Settings& settings, const FamilyState& f) {
  return f.same_pairs + f.same_in_flight < settings.same_wanted &&
         f.same_failures < 2 * settings.failures_allowed;
}

double worth(const State& state, const ExperimentState& x) {
  return worth_in(state, find_family(state, x.family), prospect_of(x));
}

double worth(const State& state, const Queued& queued) {
  return worth_in(state, find_family(state, queued.family), prospect_of(queued));
}

bool pays(const State& state, const ExperimentState& x) {
  const FamilyState* family = find_family(state, x.family);
  return !family || !family->volume_known || worth(state, x) >= state.settings.worth_at_least;
}

int pairs_to_settle(const ExperimentState& x) {
  const int pairs = x.compare_pairs + x.replicate_pairs;
  const double level = std::log(kForGood);
  return static_cast<int>(std::ceil(std::min(stats::pairs_to_win(x.log_e, pairs, level),
                                             stats::pairs_to_win(x.log_e_none, pairs, level))));
}

double promotion_level(const State& state) {
  return stats::promotion_log_threshold(state.campaign);
}

std::vector<Intent> one_by_one(const std::vector<Intent>& intents) {
  std::vector<Intent> single;
  for (const Intent& intent : intents) {
    const auto* wish = std::get_if<RunPair>(&intent);
    if (!wish) single.push_back(intent);
    for (int i = 0; wish && i < wish->pairs; ++i) {
      single.push_back(RunPair{wish->experiment, wish->purpose, wish->target, wish->slots, 1});
    }
  }
  return single;
}

std::vector<Intent> next(const State& state) { return Planner(state).plan(); }

bool settled(const State& state) {
  if (!next(state).empty()) return false;
  const bool working = std::ranges::any_of(state.experiments, [](const ExperimentState& x) {
    return is_active(x) || x.in_flight > 0 || x.top_up_in_flight > 0;
  });
  const bool racing = std::ranges::any_of(
      state.queued, [](const Queued& queued) { return queued.lane.in_flight > 0; });
  const bool watching = std::ranges::any_of(
      state.families, [](const FamilyState& f) { return f.profiling || f.same_in_flight > 0; });
  return !working && !racing && !watching;
}

}  // namespace amdahl::loop
