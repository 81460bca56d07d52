#include "app/cycle.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/asking.h"
#include "app/budget.h"
#include "app/canary.h"
#include "app/dreaming.h"
#include "app/effects.h"
#include "app/infer.h"
#include "app/later_jobs.h"
#include "app/lease.h"
#include "app/overlay.h"
#include "app/pairs.h"
#include "app/promote.h"
#include "app/ran_with.h"
#include "app/scan_cycle.h"
#include "app/snapshot.h"
#include "app/webhook.h"
#include "app/work.h"
#include "base/text.h"
#include "model/plan.h"
#include "stats/coin.h"

namespace amdahl::app {
namespace {

constexpr Nanos kPollEvery = std::chrono::milliseconds(100);
constexpr Nanos kThinkEvery = std::chrono::seconds(2);
constexpr Nanos kTickEvery = std::chrono::seconds(1);
constexpr Nanos kForHelpers = std::chrono::seconds(30);  // A single cycle waits so long for them.
constexpr int kMostConflicts = 3;
constexpr int kTypicalPairs = 9;  // Of a hypothesis not yet begun, for estimates.

class Turner {
 public:
  Turner(Context& context, const CycleOptions& options, std::int64_t fence)
      : context_{context}, options_{options}, fence_{fence} {}

  Result<CycleSummary> turn();

 private:
  Result<> prepare();
  // What its arms inherit is fixed before its first run; a person is told where that differs.
  Result<> pin(const ledger::Family& family, bool anew);
  Result<> choose();
  Result<> dream();
  Result<bool> step();    // Whether it thought anew.
  Result<int> collect();  // How many runs and questions ended.
  Result<> think();       // Decides all there is to decide, then grants slots.
  Result<> grant(const std::vector<loop::Intent>& wishes);
  Result<std::optional<model::Pair>> order_for(const loop::Intent& wish);
  Result<model::Pair> numbered(model::Pair order);
  // Reserves and submits; false when there is no room or no money for it, nor for what follows.
  Result<bool> grant_one(model::Pair order);
  Result<> skip(const std::string& family, const std::string& reason);
  Result<bool> decide_by_policy();  // Whether it decided anything.
  Result<bool> done();
  bool stopped();
  bool out_of_time() const;
  Result<> tick();

  Context& context_;
  const CycleOptions& options_;
  std::int64_t fence_;
  SnapshotOptions snapshots_;
  std::optional<FleetAnswer> fleet_;  // What a choice is made from.
  std::optional<Snapshot> snapshot_;  // Of the last thought, with what it granted.
  Submitted submitted_;
  Nanos began_{};
  Nanos thought_{};
  Nanos ticked_{};
  CycleSummary summary_;
  std::int64_t promoted_before_ = 0;
  bool out_of_budget_ = false;
  std::string full_because_;  // Why the place had no room, as it was said.
  AskLimits asking_;
  bool stuck_ = false;  // All that is left to do is of families that cannot go on.
  std::map<std::string, std::string> pinned_;  // Families that have an environment, by version.
  std::set<std::string> skipped_;              // Families that could not go on in the last thought,
  std::map<std::string, std::string> skipped_because_;  // and what was said of them before.
};

std::int64_t tally(const std::map<std::string, std::int64_t>& tallies, const std::string& name) {
  const auto it = tallies.find(name);
  return it == tallies.end() ? 0 : it->second;
}

// A cycle may watch for days: of a large fleet it keeps what it needs.
FleetAnswer for_choices(FleetAnswer fleet) {
  FleetAnswer kept;
  kept.report = std::move(fleet.report);
  kept.local_jobs = std::move(fleet.local_jobs);
  kept.slurm_knows = fleet.slurm_knows;
  for (scan::Cut& cut : kept.report.cuts) {
    if (&cut != &kept.report.cut(scan::By::kFamily)) cut.rows = {};
  }
  return kept;
}

// Overlays and budgets are made from ledger and configuration, whatever a crash left.
Result<> Turner::prepare() {
  began_ = context_.clock->monotonic();
  snapshots_.family = options_.family;
  if (options_.refresh) snapshots_.profiles_not_before = context_.clock->unix_time();
  promoted_before_ = tally(TRY(context_.ledger->tallies()), "verdict.promoted");
  TRY(set_budgets(context_, fence_));
  TRY(models_of(context_.config));
  asking_.usd_left = context_.config.agent_cycle_usd;
  for (const ledger::Family& family : TRY(context_.ledger->families())) {
    if (const auto written = write_overlay(context_, family.name); !written) {
      TRY(skip(family.name, written.error().text));
    }
    TRY(pin(family, options_.refresh));
    const bool chosen = options_.family.empty() || options_.family == family.name;
    if (const std::string why = why_never_promoted(family.spec); chosen && !why.empty()) {
      options_.say(fmt::format("{}: nothing can be promoted, because {} (docs/format/spec.md)",
                               family.name, why));
    }
  }
  auto fleet = scan_for_cycle(context_, options_.say, options_.stopped);
  if (fleet) {
    TRY(record_volumes(context_, *fleet, fence_));
    TRY(watch_later_jobs(context_, *fleet, options_.say, fence_));
  }
  TRY(dream());
  if (fleet) fleet_ = for_choices(*std::move(fleet));
  return choose();
}

Result<> Turner::pin(const ledger::Family& family, bool anew) {
  const auto [known, first] = pinned_.emplace(family.name, family.version);
  if (!first && known->second == family.version) return Ok{};
  known->second = family.version;
  const std::vector<std::string> differ =
      TRY(pin_environment(context_, family.name, family.spec, anew));
  if (differ.empty() || !first) return Ok{};
  const std::string names = join(differ, ", ");
  options_.say(anew ? fmt::format("{}: arms run in this environment from now on; changed: {}",
                                  family.name, names)
                    : fmt::format("{}: arms run in the environment of its first run; here differ: "
                                  "{}. To take this one: amdahl cycle --refresh",
                                  family.name, names));
  return Ok{};
}

// What the scan gives to work on next, of what there is to do at all.
Result<> Turner::choose() {
  if (!fleet_ || context_.config.one_job) return Ok{};
  const Snapshot now = TRY(take_snapshot(context_, snapshots_));
  const scan::Pick pick = scan::pick(fleet_->report, standing_of(now, *fleet_));
  return record_choice(context_, pick, options_.say, fence_);
}

// The lease's token counts cycles: every Nth one dreams.
Result<> Turner::dream() {
  const int every = context_.config.dream_every;
  if (every <= 0 || fence_ % every != 0) return Ok{};
  Result<DreamOutcome> dreamt = dream_up(context_, {.docs = {}, .family = {}, .fence = fence_});
  // A missing documents folder must not stop the loop.
  if (!dreamt && dreamt.error().kind == Error::Kind::kNotFound) {
    options_.say(fmt::format("dream failed: {}", dreamt.error().text));
    return Ok{};
  }
  const DreamOutcome outcome = TRY(std::move(dreamt));
  for (const model::Hypothesis& h : outcome.injected) {
    options_.say(fmt::format("{}: new idea '{}' ({}), from {}", h.family, h.title,
                             describe(h.change), h.origin.ref));
  }
  return Ok{};
}

Result<bool> Turner::decide_by_policy() {
  const GatePolicy* policy = TRY(gate_policy(context_.config.gate_policy));
  if (!policy) return false;
  bool decided = false;
  for (const ledger::GateRow& row : TRY(context_.ledger->gate("pending"))) {
    const auto decision = policy->decide(row.packet);
    if (!decision) continue;
    auto outcome = decide(context_, row, *decision, fence_);
    // The baseline moved since it was measured: the loop aborts it, and it may come again.
    if (!outcome && outcome.error().kind == Error::Kind::kConflict) continue;
    if (!outcome && outcome.error().kind == Error::Kind::kBadInput) {
      TRY(skip(row.packet.family, outcome.error().text));
      continue;
    }
    options_.say(TRY(std::move(outcome)));
    decided = true;
  }
  return decided;
}

// Acts on one decision at a time: each may change what the next should be. What the policy decides
// at the gate moves the baseline, and all is read anew.
Result<> Turner::think() {
  for (const ledger::Family& family : TRY(context_.ledger->families())) {
    TRY(pin(family, false));  // One that was adopted or replaced meanwhile.
  }
  snapshot_ = TRY(take_snapshot(context_, snapshots_));
  skipped_.clear();
  for (const auto& [family, reason] : snapshot_->skipped) TRY(skip(family, reason));
  for (const auto& [idea, reason] : snapshot_->left_out) TRY(skip(idea, reason));
  int conflicts = 0;
  while (true) {
    LedgerEffects effects(context_, *snapshot_, fence_, options_.say);
    const std::vector<loop::Intent> intents = snapshot_->experiments.plan();
    bool acted = false;
    bool asked = false;
    for (const loop::Intent& intent : intents) {
      const std::string family = snapshot_->experiments.family_of(intent);
      if (skipped_.contains(family)) continue;
      const auto done = snapshot_->experiments.act(intent, effects);
      // What is wrong with one family stops no other; an error of the ledger stops all.
      if (!done && done.error().kind == Error::Kind::kBadInput && !family.empty()) {
        TRY(skip(family, done.error().text));
        continue;
      }
      // A helper or a person wrote meanwhile what this decision did not know of: decide anew.
      if (!done && done.error().kind == Error::Kind::kConflict && conflicts++ < kMostConflicts) {
        snapshot_ = TRY(take_snapshot(context_, snapshots_));
        acted = true;
        break;
      }
      acted = TRY(done);
      asked = acted && std::holds_alternative<loop::AskPanel>(intent);
      if (acted) break;
    }
    if (!acted) return grant(intents);
    if (asked && TRY(decide_by_policy())) snapshot_ = TRY(take_snapshot(context_, snapshots_));
  }
}

Result<std::optional<model::Pair>> Turner::order_for(const loop::Intent& wish) {
  if (const auto* profile = std::get_if<loop::Profile>(&wish)) {
    model::Pair order;
    order.family = profile->family;
    order.aim.purpose = model::Purpose::kProfile;
    order.a = order.b = snapshot_->families.at(order.family).baseline;
    return std::optional(TRY(numbered(std::move(order))));
  }
  std::optional<model::Pair> order = snapshot_->experiments.order_for(wish);
  const bool is_race = order && order->aim.purpose == model::Purpose::kRace;
  if (order && order->experiment.empty() && !is_race) order = TRY(numbered(*std::move(order)));
  if (!order) return order;
  for (model::SharedVariant& variant : order->shared) {
    if (variant.aim.purpose != model::Purpose::kSame) continue;
    variant.index = next_index(TRY(context_.ledger->family_runs(order->family, variant.aim)));
  }
  return order;
}

// Pairs that were too old or void for the loop have used up their indices, too.
Result<model::Pair> Turner::numbered(model::Pair order) {
  order.index = next_index(TRY(context_.ledger->family_runs(order.family, order.aim)));
  order.variant_second = stats::coin("same", order.family, order.index);
  return order;
}

// Said and kept once, until something else is wrong: it stops no other family.
Result<> Turner::skip(const std::string& family, const std::string& reason) {
  skipped_.insert(family);
  std::string& before = skipped_because_[family];
  if (before == reason) return Ok{};
  before = reason;
  options_.say(fmt::format("{} is skipped: {}", family, reason));
  return note(context_, {"cycle.noted", "cycle", family, {{"skipped", reason}}}, fence_);
}

Result<bool> Turner::grant_one(model::Pair order) {
  const ledger::Family& family = snapshot_->families.at(order.family);
  const auto skipped = [&](const std::string& reason) -> Result<bool> {
    TRY(skip(family.name, reason));
    return true;
  };
  const auto slots = slots_needed(family.spec, order);
  if (!slots) return skipped(slots.error().text);
  const auto need = static_cast<std::size_t>(*slots);
  if (need > context_.config.slots.size()) {
    return skipped(fmt::format("it needs {} CPU slots and there are {}; give more with --slots",
                               need, context_.config.slots.size()));
  }
  const std::vector<int> free = free_slots(context_.config, snapshot_->in_flight);
  if (need > free.size()) return false;
  const std::vector<int> cpus(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(need));
  const auto made = submit_pair(context_, family, order, cpus, fence_);
  if (!made && made.error().kind == Error::Kind::kBudget) {
    if (!out_of_budget_) options_.say(made.error().text);
    out_of_budget_ = true;
    return false;
  }
  if (!made && made.error().kind == Error::Kind::kBadInput) return skipped(made.error().text);
  if (!made && made.error().kind == Error::Kind::kBusy) {
    if (full_because_ != made.error().text) options_.say(made.error().text);
    full_because_ = made.error().text;
    return false;
  }
  if (!made) return made.error();
  const std::string& began = made->build.empty() ? made->reservation : made->build;
  if (!made->problem.empty()) {
    options_.say(
        fmt::format("{}: {} could not be handed over: {}", order.family, began, made->problem));
  }
  if (!made->build.empty() && !made->build_began)
    return true;  // The pair's turn comes when it is over.
  order.state = model::PairState::kSubmitted;
  order.reservation = began;
  order.cpus = cpus;
  submitted_[order.reservation] = {context_.clock->monotonic(), 1};
  if (!made->build.empty()) {
    order.aim = {model::Purpose::kBuild};
    order.experiment.clear();
  }
  snapshot_->experiments.began(order);
  snapshot_->in_flight.push_back(std::move(order));
  ++summary_.submitted;
  return true;
}

// Wishes in their order while slots are free. The first that does not fit ends it, so that a
// wide job is not starved by narrow ones; one that can never run holds up nobody.
Result<> Turner::grant(const std::vector<loop::Intent>& wishes) {
  std::map<std::string, int> served;  // Wishes that a block has already granted.
  bool all_skipped = true;
  if (out_of_time()) return Ok{};
  for (const loop::Intent& wish : loop::one_by_one(wishes)) {
    const auto* pair = std::get_if<loop::RunPair>(&wish);
    if (pair && served[pair->experiment] > 0) {
      --served[pair->experiment];
      continue;
    }
    const auto order = TRY(order_for(wish));
    if (!order || skipped_.contains(order->family)) continue;
    const bool granted = TRY(grant_one(*order));
    if (skipped_.contains(order->family)) continue;
    all_skipped = false;
    if (!granted) break;
    for (const model::SharedVariant& variant : order->shared) ++served[variant.experiment];
  }
  stuck_ = !skipped_.empty() && all_skipped;
  return Ok{};
}

// What helpers have is over soon: a cycle that does not watch would leave it to the next one.
Result<int> Turner::collect() {
  int ended = TRY(reconcile(context_, submitted_, fence_, options_.say));
  const Nanos began = context_.clock->monotonic();
  while (!options_.watch && waits_for_helpers(submitted_) && !stopped() &&
         context_.clock->monotonic() - began < kForHelpers) {
    context_.clock->sleep(kPollEvery);
    ended += TRY(reconcile(context_, submitted_, fence_, options_.say));
  }
  summary_.ended_runs += ended;
  const int answered = TRY(collect_answers(context_, fence_, options_.say));
  summary_.answers += answered;
  if (ended + answered == 0) return 0;
  std::set<std::string> open;
  for (const model::Pair& run : TRY(context_.ledger->runs_in_flight())) {
    open.insert(run.reservation);
  }
  for (const ledger::Ask& ask : TRY(context_.ledger->asks("", "reserved"))) open.insert(ask.id);
  WorkFolder(context_).keep_only(open);
  return ended + answered;
}

// Looking for ended runs is cheap and done often; thinking only when there is news, or when a
// person at the gate may have made some.
Result<bool> Turner::step() {
  ++summary_.steps;
  const int ended = TRY(collect());
  const Nanos now = context_.clock->monotonic();
  if (ended == 0 && summary_.steps > 1 && now - thought_ < kThinkEvery) return false;
  thought_ = now;
  TRY(watch_canaries(context_, options_.say, fence_));
  TRY(decide_by_policy());
  TRY(think());
  if (!out_of_time()) {
    summary_.asked += TRY(ask_models(context_, *snapshot_, fence_, asking_, options_.say));
  }
  TRY(cancel_closed(context_, submitted_, options_.say));
  // People hear of it from the ledger as well: a webhook that fails stops nothing.
  if (const auto poked = poke_webhook(context_); !poked) {
    options_.say(fmt::format("the webhook was not started: {}", poked.error().text));
  }
  return true;
}

bool Turner::out_of_time() const {
  return options_.time_limit && context_.clock->monotonic() - began_ >= *options_.time_limit;
}

bool Turner::stopped() {
  if (!options_.stopped || !options_.stopped()) return false;
  summary_.stopped_because = "interrupted";
  return true;
}

Result<bool> Turner::done() {
  const auto tallies = TRY(context_.ledger->tallies());
  summary_.promoted = static_cast<int>(tally(tallies, "verdict.promoted") - promoted_before_);
  if (options_.until == "first-win" && summary_.promoted > 0) {
    summary_.stopped_because = "first win";
    return true;
  }
  const Snapshot& snapshot = *snapshot_;
  summary_.waiting_at_gate = summary_.held = summary_.parked = 0;
  for (const loop::ExperimentState& x : snapshot.experiments.state().experiments) {
    summary_.waiting_at_gate += x.stage == model::Stage::kGate ? 1 : 0;
    summary_.held += x.stage == model::Stage::kHold ? 1 : 0;
    summary_.parked += x.parked ? 1 : 0;
  }
  if (out_of_budget_ && snapshot.in_flight.empty()) {
    summary_.stopped_because = "budget";
    return true;
  }
  if (out_of_time() && snapshot.in_flight.empty()) {
    summary_.stopped_because = "time";
    return true;
  }
  summary_.skipped = skipped_because_;
  std::erase_if(summary_.skipped, [&](const auto& row) { return !skipped_.contains(row.first); });
  const bool waits_for_answers = !TRY(context_.ledger->asks("", "reserved")).empty();
  const bool nothing_runs = snapshot.in_flight.empty() && !waits_for_answers;
  summary_.settled = nothing_runs && loop::settled(snapshot.experiments.state()) && !stuck_;
  const bool at_rest = nothing_runs && (summary_.settled || stuck_);
  if (at_rest && asking_.out_of_budget) summary_.stopped_because = "budget";
  return !options_.watch || (at_rest && options_.until != "never");
}

Result<> Turner::tick() {
  const Nanos now = context_.clock->monotonic();
  if (!options_.tick || now - ticked_ < kTickEvery) return Ok{};
  ticked_ = now;
  const Snapshot& snapshot = *snapshot_;
  const auto tallies = TRY(context_.ledger->tallies());
  Ticker ticker;
  ticker.in_flight = static_cast<int>(snapshot.in_flight.size());
  ticker.live = static_cast<int>(snapshot.experiments.state().queued.size() +
                                 snapshot.experiments.state().experiments.size());
  ticker.promoted = static_cast<int>(tally(tallies, "verdict.promoted"));
  for (const auto& [name, count] : tallies) {
    if (name.starts_with("verdict.")) ticker.verdicts += static_cast<int>(count);
  }
  ticker.elapsed = now - began_;
  double seconds = 0;
  for (const loop::FamilyState& f : snapshot.experiments.state().families) {
    const double lanes =
        std::max(1.0, std::floor(static_cast<double>(context_.config.slots.size()) / f.slots));
    double pairs = std::max(0, context_.config.same_pairs - f.same_pairs);
    for (const loop::ExperimentState& x : snapshot.experiments.state().experiments) {
      if (x.family == f.name && loop::is_active(x)) pairs += x.pairs_certain + 4;
    }
    pairs +=
        kTypicalPairs * static_cast<double>(std::ranges::count(snapshot.experiments.state().queued,
                                                               f.name, &loop::Queued::family));
    seconds += pairs * f.pair_cost_s / std::max(1, f.slots) / lanes;
  }
  ticker.left = from_seconds(seconds);
  if (options_.time_limit) {
    ticker.left = std::clamp(*options_.time_limit - ticker.elapsed, Nanos{0}, *ticker.left);
  }
  if (!snapshot.in_flight.empty()) {
    const model::Pair& run = snapshot.in_flight.front();
    ticker.doing = fmt::format("{}: {}", run.family, label_of(run));
    // A verdict does not wait for pairs that it no longer needs; theirs has no title any more.
    if (const std::string title = snapshot.experiments.title_of(run); !title.empty()) {
      ticker.doing = fmt::format("{}: '{}', {}", run.family, title, label_of(run));
    }
  }
  options_.tick(ticker);
  return Ok{};
}

Result<CycleSummary> Turner::turn() {
  TRY(prepare());
  while (!stopped()) {
    const bool thought = TRY(step());
    if (thought && TRY(done())) break;
    TRY(tick());
    context_.clock->sleep(kPollEvery);
  }
  // What was chosen when it began may have nothing left to try.
  if (summary_.ended_runs > 0) TRY(choose());
  return summary_;
}

}  // namespace

Result<CycleSummary> run_cycle(Context& context, const CycleOptions& options) {
  TRY(gate_policy(context.config.gate_policy));
  const std::unique_ptr<Lease> lease = TRY(Lease::take(context));
  return Turner(context, options, lease->fence()).turn();
}

}  // namespace amdahl::app
