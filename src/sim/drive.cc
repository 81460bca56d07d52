#include "sim/drive.h"

#include <algorithm>
#include <array>
#include <map>
#include <queue>
#include <span>

#include <fmt/core.h>

#include "base/check.h"
#include "refute/check.h"
#include "sim/memory.h"
#include "sim/production.h"
#include "stats/campaign.h"

namespace amdahl::sim {
namespace {

using loop::Intent;
using model::Purpose;

constexpr std::uint64_t kTruths = 0x7472757468;  // "truth"
constexpr std::uint64_t kTurns = 0x7475726e;     // "turn"
constexpr std::uint64_t kCanaries = 0x636e7279;  // "cnry"
constexpr std::uint64_t kSecond = 0x32636e7279;  // "2cnry"
constexpr double kPoll_h = 0.1;                  // The loop looks for ended pairs this often.

constexpr auto kGrants = std::to_array<GrantRow>({
    {Grant::kWorth, false, "ours", "highest chance × hours saved ÷ hours still needed"},
    {Grant::kWorth, true, "ours-drop", "the same; hypotheses that do not pay off are dropped"},
    {Grant::kFifo, false, "fifo", "oldest first, each until decided"},
    {Grant::kRandom, false, "random", "random order, each until decided"},
    {Grant::kWaste, false, "top-idle", "most wasteful job first"},
    {Grant::kRoundRobin, false, "round-robin", "one pair each in turn"},
});

// A pair that runs.
struct Flight {
  double ends_h = 0;
  int number = 0;  // Of the launch: ties end in that order.
  std::size_t job = 0;
  model::Pair order;
  std::vector<model::PairFact> facts;

  bool operator>(const Flight& other) const {
    return ends_h != other.ends_h ? ends_h > other.ends_h : number > other.number;
  }
};

class Driver {
 public:
  Driver(const Setup& setup, std::uint64_t seed, const std::vector<Kind>& kinds);

  Campaign run();

 private:
  void lay_out(const std::vector<Kind>& kinds);
  void arrive();
  void add_job(Job& made);
  void decide();   // All there is to decide; what is left are wishes.
  bool at_gate();  // Whether there was something.
  void grant();
  bool grant(const loop::RunPair& wish, std::map<std::string, int>& served);
  void launch(model::Pair order);
  void collect();
  void end(model::Pair pair, const model::PairFact& fact);
  void charge(const Flight& flight);
  void turn();  // Until all is at rest.
  void watch_all();
  void try_again();
  Job& job_of(int number) { return jobs_[static_cast<std::size_t>(number / setup_.per_job)]; }
  double turn_of(const loop::RunPair& wish) const;

  const Setup& setup_;
  std::uint64_t seed_;
  Campaign out_;
  Memory memory_;
  loop::Experiments experiments_;
  std::vector<Job> jobs_;
  std::vector<double> turns_;  // By hypothesis: a random order.
  std::map<std::string, std::size_t> job_named_;
  std::vector<Intent> wishes_;
  std::priority_queue<Flight, std::vector<Flight>, std::greater<>> flying_;
  std::size_t arrived_ = 0;  // Jobs that the loop knows.
  int launched_ = 0;
};

loop::CampaignRecord open_campaign(const Setup& setup, std::uint64_t seed) {
  Stream stream(seed, kSeeds, 1);
  return {.id = "c-1", .seed = stream.hex(32), .campaign = setup.campaign, .registered = 0};
}

Driver::Driver(const Setup& setup, std::uint64_t seed, const std::vector<Kind>& kinds)
    : setup_{setup},
      seed_{seed},
      memory_{out_, seed},
      experiments_{setup.settings, open_campaign(setup, seed), setup.prices} {
  lay_out(kinds);
}

Noise noise_of(const Setup& setup, const Truth& truth) {
  if (setup.noise) {
    Noise noise = *setup.noise;
    noise.run *= truth.noise;
    noise.drift *= truth.noise;
    return noise;
  }
  const bool outliers = truth.kind == Kind::kOutlier;
  const Scenario* scenario = setup.scenario ? setup.scenario : find_scenario("base");
  return (outliers ? find_scenario("outliers") : scenario)->noise(truth.noise);
}

// What is the job's and not the hypothesis's is as of its first.
void share_job(std::vector<Truth>& truths) {
  const Truth job = truths.front();
  for (Truth& truth : truths) {
    truth.noise = job.noise;
    truth.inputs_known = job.inputs_known;
    truth.strata_known = job.strata_known;
    truth.hours = job.hours;
    truth.pair_hours = job.pair_hours;
    truth.idle = job.idle;
  }
}

void Driver::lay_out(const std::vector<Kind>& kinds) {
  jobs_ = make_jobs(setup_, seed_, kinds);
  Stream turns(seed_, kTurns);
  for (std::size_t i = 0; i < kinds.size(); ++i) turns_.push_back(turns.uniform());
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    for (const Truth& truth : jobs_[i].truths()) out_.outcomes.push_back({.truth = truth});
    job_named_.emplace(jobs_[i].spec().family, i);
  }
}

// Ideas come as earlier ones are decided.
void Driver::arrive() {
  const loop::State& state = experiments_.state();
  auto live = static_cast<int>(state.queued.size());
  for (const loop::ExperimentState& x : state.experiments) {
    live += x.stage != model::Stage::kHold && !x.parked ? 1 : 0;
  }
  for (; arrived_ < jobs_.size() && live < setup_.live; ++arrived_) {
    add_job(jobs_[arrived_]);
    live += static_cast<int>(jobs_[arrived_].truths().size());
  }
}

void Driver::add_job(Job& made) {
  const Truth& job = made.truths().front();
  loop::FamilyRecord record;
  record.spec = made.spec();
  record.state.name = record.spec.family;
  record.state.volume_accelerator_h_per_day = job.hours / setup_.settings.horizon_days;
  record.state.volume_known = setup_.drops;
  record.state.pair_cost_s = job.pair_hours * 3600;
  record.state.profiled = true;
  for (int i = 1; static_cast<int>(record.same.size()) < setup_.same_at_start; ++i) {
    model::PairFact pair = made.same(i);
    out_.same_h += job.pair_hours;
    if (!pair.voided) record.same.push_back(std::move(pair));
  }
  record.past_runs = job.past_runs;
  record.past_failed = made.past_failures();
  CHECK(experiments_.add(std::move(record)));
  const int count = static_cast<int>(made.truths().size());
  for (int i = 0; i < count; ++i) experiments_.add(made.hypothesis(made.first() + i));
}

void Driver::decide() {
  for (bool acted = true; acted;) {
    acted = false;
    wishes_ = experiments_.plan();
    ++out_.plans;
    for (const Intent& intent : wishes_) {
      if (const auto* ask = std::get_if<loop::AskPanel>(&intent))
        memory_.log_level = ask->log_level;
      const auto did = experiments_.act(intent, memory_);
      CHECK(did);
      acted |= *did;
      // A promotion moves a baseline: what was planned before no longer stands.
      if (*did && at_gate()) break;
    }
  }
}

// Everything that survives is approved.
bool Driver::at_gate() {
  const std::vector<std::string> ids = std::exchange(memory_.at_gate, {});
  for (const std::string& id : ids) {
    const model::GateDecision decision{true, "policy:sim", "it survived the panel"};
    CHECK(experiments_.decide(id, decision, memory_));
    out_.outcomes[static_cast<std::size_t>(number_in(id))].promoted_at_h = out_.spent_h;
  }
  return !ids.empty();
}

// The smaller, the sooner.
double Driver::turn_of(const loop::RunPair& wish) const {
  const auto number = static_cast<std::size_t>(number_in(wish.experiment));
  const Outcome& outcome = out_.outcomes[number];
  switch (setup_.grant) {
    case Grant::kWorth:
      return 0;
    case Grant::kFifo:
      return static_cast<double>(number);
    case Grant::kRandom:
      return turns_[number];
    case Grant::kWaste:
      return -outcome.truth.hours * outcome.truth.idle;
    case Grant::kRoundRobin:
      return outcome.pairs() + outcome.voided;
  }
  return 0;
}

void Driver::grant() {
  std::vector<const loop::RunPair*> pairs;
  for (const Intent& wish : wishes_) {
    if (const auto* pair = std::get_if<loop::RunPair>(&wish)) pairs.push_back(pair);
  }
  if (setup_.grant != Grant::kWorth) {
    std::ranges::stable_sort(pairs, {}, [&](const auto* pair) { return turn_of(*pair); });
  }
  std::map<std::string, int> served;  // Pairs that a block has already granted.
  for (const loop::RunPair* pair : pairs) {
    if (!grant(*pair, served)) return;
  }
  for (const Intent& wish : wishes_) {
    if (static_cast<int>(flying_.size()) >= setup_.slots) return;
    if (!std::holds_alternative<loop::RunSame>(wish)) continue;
    if (const auto order = experiments_.order_for(wish)) launch(*order);
  }
}

// False when no slot is left.
bool Driver::grant(const loop::RunPair& wish, std::map<std::string, int>& served) {
  for (int i = 0; i < wish.pairs; ++i) {
    if (static_cast<int>(flying_.size()) >= setup_.slots) return false;
    if (const auto it = served.find(wish.experiment); it != served.end() && it->second > 0) {
      --it->second;
      continue;
    }
    const auto order = experiments_.order_for(wish);
    CHECK(order.has_value());
    for (const model::SharedVariant& variant : order->shared) ++served[variant.experiment];
    launch(*order);
  }
  return true;
}

void Driver::launch(model::Pair order) {
  Flight flight;
  flight.job = job_named_.at(order.family);
  flight.number = launched_++;
  flight.facts = jobs_[flight.job].run(order);
  double runs_h = flight.facts.front().a.cost / 3600;
  for (const model::PairFact& fact : flight.facts) runs_h += fact.b.cost / 3600;
  flight.ends_h = memory_.clock_h + runs_h;
  experiments_.began(order);
  order.state = model::PairState::kSubmitted;
  flight.order = std::move(order);
  flying_.push(std::move(flight));
}

// Waits for the next pair to end, and takes with it what ends before the loop looks again.
void Driver::collect() {
  memory_.clock_h = flying_.top().ends_h + kPoll_h;
  while (!flying_.empty() && flying_.top().ends_h <= memory_.clock_h) {
    const Flight flight = flying_.top();
    flying_.pop();
    charge(flight);
    end(flight.order, flight.facts.front());
    for (std::size_t i = 0; i < flight.order.shared.size(); ++i) {
      end(pair_of(flight.order.shared[i], flight.order), flight.facts[i + 1]);
    }
  }
}

void Driver::end(model::Pair pair, const model::PairFact& fact) {
  pair.state = fact.voided ? model::PairState::kVoid : model::PairState::kCollected;
  pair.fact = fact;
  experiments_.ended(pair);
}

void Driver::charge(const Flight& flight) {
  const double runs = static_cast<double>(flight.facts.size()) + 1;
  const Job& job = jobs_[flight.job];
  const double cost_h = job.truths().front().pair_hours * runs / 2;
  out_.spent_h += cost_h;
  if (flight.order.experiment.empty()) {
    out_.same_h += cost_h;
    return;
  }
  const auto count = [&](const std::string& experiment, const model::PairFact& fact) {
    Outcome& outcome = out_.outcomes[static_cast<std::size_t>(number_in(experiment))];
    outcome.spent_h += cost_h / (runs - 1);
    if (fact.voided) {
      ++outcome.voided;
    } else if (fact.purpose == Purpose::kCompare) {
      ++outcome.compare;
      outcome.compare_runs += runs / (runs - 1);
    } else if (fact.purpose == Purpose::kReplicate) {
      ++outcome.replicate;
    } else {
      outcome.bought_for |= bit_of(fact.target);
      ++outcome.top_up;
    }
  };
  count(flight.order.experiment, flight.facts.front());
  for (std::size_t i = 0; i < flight.order.shared.size(); ++i) {
    count(flight.order.shared[i].experiment, flight.facts[i + 1]);
  }
}

void Driver::watch_all() {
  for (std::size_t i = 0; i < out_.outcomes.size(); ++i) {
    Outcome& outcome = out_.outcomes[i];
    if (!outcome.kept()) continue;
    const auto number = static_cast<int>(i);
    const std::uint64_t seed = Stream(seed_, outcome.reopened ? kSecond : kCanaries, i).bits();
    const model::CanaryResult result =
        watch(outcome.truth, noise_of(setup_, outcome.truth), outcome.shrunk, seed);
    if (result.outcome != model::CanaryState::kRollbackProposed) continue;
    CHECK(experiments_.roll_back(job_of(number).spec().family, hypothesis_id(number), "policy:sim",
                                 "its canary proposed it", memory_));
  }
}

// What was rolled back, once more: as any other idea, on a fresh count of its pairs.
void Driver::try_again() {
  for (std::size_t i = 0; i < out_.outcomes.size(); ++i) {
    Outcome& outcome = out_.outcomes[i];
    if (!outcome.rolled_back || outcome.reopened) continue;
    const auto number = static_cast<int>(i);
    const model::Hypothesis idea = job_of(number).hypothesis(number);
    CHECK(
        experiments_.reopen({idea, *outcome.verdict}, "sim", "its canary may have erred", memory_));
    outcome.promoted = outcome.rolled_back = false;
    outcome.verdict.reset();
    experiments_.add(idea);
  }
}

Campaign Driver::run() {
  turn();
  if (setup_.canary) watch_all();
  if (setup_.canary && setup_.reopens) {
    try_again();
    turn();
    watch_all();
  }
  for (const loop::ExperimentState& x : experiments_.state().experiments) {
    out_.outcomes[static_cast<std::size_t>(number_in(x.id))].parked = x.parked;
  }
  out_.clock_h = memory_.clock_h;
  return std::move(out_);
}

void Driver::turn() {
  while (true) {
    arrive();
    decide();
    grant();
    if (flying_.empty() && arrived_ == jobs_.size()) break;
    if (flying_.empty()) continue;
    collect();
  }
}

}  // namespace

std::span<const GrantRow> grants() { return kGrants; }

Campaign run_campaign(const Setup& setup, std::uint64_t seed, const std::vector<Kind>& kinds) {
  return Driver(setup, seed, kinds).run();
}

namespace {

std::vector<Kind> draw_kinds(const Setup& setup, std::uint64_t seed) {
  Stream stream(seed, kTruths, ~std::uint64_t{0});
  std::vector<Kind> kinds;
  for (int i = 0; i < setup.hypotheses; ++i) kinds.push_back(draw_kind(setup.mix, stream));
  return kinds;
}

}  // namespace

std::vector<Job> make_jobs(const Setup& setup, std::uint64_t seed, const std::vector<Kind>& kinds) {
  std::vector<Job> jobs;
  std::vector<Truth> truths;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    Stream stream(seed, kTruths, i);
    truths.push_back(draw_truth(kinds[i], setup.population, stream));
    const bool full = static_cast<int>(truths.size()) == setup.per_job;
    if (!full && i + 1 < kinds.size()) continue;
    share_job(truths);
    const int first = static_cast<int>(i + 1 - truths.size());
    const Noise noise = noise_of(setup, truths.front());
    jobs.emplace_back(seed, static_cast<int>(jobs.size()), first, std::exchange(truths, {}), noise,
                      Prices{setup.prices.price_accelerator_hour, setup.prices.price_cpu_hour});
  }
  return jobs;
}

std::vector<Job> make_jobs(const Setup& setup, std::uint64_t seed) {
  return make_jobs(setup, seed, draw_kinds(setup, seed));
}

Campaign run_campaign(const Setup& setup, std::uint64_t seed) {
  return run_campaign(setup, seed, draw_kinds(setup, seed));
}

}  // namespace amdahl::sim
