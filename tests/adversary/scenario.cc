#include "scenario.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/tune.h"
#include "base/text.h"
#include "cheats.h"
#include "os/host.h"

namespace amdahl::adversary {
namespace {

using sim::Stream;

// Streams of one seed: what one part draws moves no other.
enum Part : std::uint64_t { kJob = 1, kVariants, kSpec, kConfig, kTrouble, kTurns, kTune, kDisk };

bool timed(const Job& job) { return job.timed; }
bool exact(const Job& job) { return job.exact; }
bool scored(const Job& job) { return !job.exact; }
bool by_pattern(const Job& job) { return job.tells == Job::Tells::kOutput; }

Job make_job(std::uint64_t seed) {
  Stream luck(seed, kJob);
  Job job;
  job.run_s = std::exp(luck.uniform(std::log(10.0), std::log(300.0)));
  job.items = std::floor(luck.uniform(20, 1000));
  job.exact = luck.chance(0.65);
  job.timed = luck.chance(0.25);
  job.throughput = job.timed && luck.chance(0.4);
  job.strata = luck.chance(0.15);
  const double told = luck.uniform();
  if (told > 0.7) job.tells = told > 0.85 ? Job::Tells::kOutput : Job::Tells::kFixed;
  job.noise = std::exp(luck.uniform(std::log(0.004), std::log(0.03)));
  job.drift = luck.uniform(0, 0.04);
  job.outliers = luck.chance(0.5) ? luck.uniform(0, 0.04) : 0;
  job.failures = luck.chance(0.2) ? luck.uniform(0, 0.04) : 0;
  job.second = luck.chance(0.2) ? luck.uniform(-0.03, 0.03) : 0;
  return job;
}

model::Spec right_spec(const Job& job, const std::string& folder) {
  model::Spec spec;
  spec.family = "job";
  spec.command = {"./job", "--batch", "8"};
  spec.workdir = folder;
  spec.time_limit = from_seconds(std::ceil(12 * job.run_s));
  spec.work_unit = "items";
  if (job.tells == Job::Tells::kOutput) spec.work_pattern = "items: ([0-9.eE+-]+)";
  if (job.tells == Job::Tells::kFixed) spec.fixed_work = job.items;
  if (job.timed) {
    spec.metric = job.throughput ? "items_per_s" : "seconds";
    spec.lower_is_better = !job.throughput;
  }
  spec.outputs.push_back({"{out}/result", job.exact});
  if (!job.exact) spec.quality.push_back({"accuracy", 0.01, true});
  spec.inputs = {"data/*.bin"};
  if (job.strata) {
    spec.strata = {{"short", 0.6, {{"LENGTH", "short"}}, {}},
                   {"long", 0.4, {{"LENGTH", "long"}}, {}}};
  }
  model::Knob knob;
  knob.name = "batch_size";
  knob.arg = "--batch";
  knob.aliases = {"-b"};
  knob.value = "8";
  model::Knob workers;
  workers.name = "loader_workers";
  workers.env = "V0";
  spec.knobs = {{knob.name, knob}, {workers.name, workers}};
  return spec;
}

// One or two cheats that the job lends itself to.
void make_cheat(const Job& job, Stream& luck, Variant& variant) {
  std::vector<int> fitting;
  for (std::size_t i = 0; i < cheats().size(); ++i) {
    const Cheat& cheat = cheats()[i];
    if (!cheat.fits || cheat.fits(job)) fitting.push_back(static_cast<int>(i));
  }
  variant.cheats = {fitting[luck.below(fitting.size())]};
  if (luck.chance(0.25)) {
    const int second = fitting[luck.below(fitting.size())];
    if (second != variant.cheats.front()) variant.cheats.push_back(second);
  }
  variant.fake = luck.uniform(0.15, 0.6);
  variant.share = luck.uniform(0.3, 0.45);
  variant.title = "cheat:";
  for (const int row : variant.cheats) {
    const Cheat& cheat = cheats()[static_cast<std::size_t>(row)];
    variant.title += fmt::format(" {};", cheat.name);
    if (cheat.name.starts_with("buys speed")) variant.change.accelerators = 2;
  }
}

Variant make_variant(const Job& job, int number, Stream& luck) {
  Variant variant;
  const double kind = luck.uniform();
  if (kind < 0.40) {
    make_cheat(job, luck, variant);
  } else if (kind < 0.80) {
    variant.effect = -std::log(1 - luck.uniform(0.10, 0.45));
    variant.title = fmt::format("honest: saves {:.1f} %", 100 * (1 - std::exp(-variant.effect)));
  } else if (kind < 0.92) {
    variant.title = "null";
  } else {
    variant.effect = -luck.uniform(0.05, 0.4);
    variant.title = fmt::format("slower by {:.1f} %", 100 * std::expm1(-variant.effect));
  }
  variant.title += fmt::format(" (V{})", number);
  const std::string name = fmt::format("V{}", number);
  variant.change.env[name] = "on";
  const double seems = std::max(0.05, variant.effect + variant.fake);
  variant.gain = std::clamp((1 - std::exp(-seems)) * luck.uniform(0.6, 1.3), 0.03, 0.8);
  return variant;
}

app::Config make_config(std::uint64_t seed, const std::string& folder, bool quick) {
  Stream luck(seed, kConfig);
  app::Config config;
  config.state_dir = folder + "/state";
  config.queue = 0;
  config.canary_runs = 0;
  config.worth_at_least = 0;
  config.busy_hosts = luck.chance(0.3);
  config.per_family = static_cast<int>(1 + luck.below(4));
  config.slots.resize(1 + luck.below(4));
  for (std::size_t i = 0; i < config.slots.size(); ++i) config.slots[i] = static_cast<int>(i);
  config.lease_s = 1e8;  // It is renewed in real time, which a seed takes next to none of.
  if (quick) {
    config.campaign_k = 5;
    config.campaign_alpha = 0.5;
  }
  if (luck.chance(0.08)) config.budget_usd = luck.uniform(0.2, 3);
  return config;
}

Fault make_fault(Stream& luck) {
  constexpr auto kPoints = std::to_array<std::string_view>(
      {"cycle.reserved", "cycle.launched", "cycle.collect", "ledger.append.begin",
       "ledger.append.before_commit", "ledger.append.after_commit", "launch.submit.before_spawn",
       "launch.submit.after_spawn"});
  constexpr auto kKinds = std::to_array<Fault::Kind>(
      {Fault::Kind::kKill, Fault::Kind::kKill, Fault::Kind::kKill, Fault::Kind::kKillAsleep,
       Fault::Kind::kStop, Fault::Kind::kFullDisk, Fault::Kind::kClockStep,
       Fault::Kind::kSecondCycle});
  Fault fault;
  fault.kind = kKinds[luck.below(kKinds.size())];
  fault.point = kPoints[luck.below(kPoints.size())];
  fault.at = 1 + static_cast<int>(luck.below(40));
  fault.seconds = (luck.chance(0.5) ? -1 : 1) * std::exp(luck.uniform(0, 10));
  return fault;
}

std::vector<Turn> make_turns(std::uint64_t seed) {
  Stream luck(seed, kTurns);
  std::vector<Turn> turns;
  const std::size_t faults = luck.chance(0.4) ? 0 : 1 + luck.below(4);
  for (std::size_t i = 0; i < faults; ++i) {
    Turn turn;
    turn.watch = luck.chance(0.7);
    turn.cycles = static_cast<int>(1 + luck.below(30));
    turn.gap_s = std::exp(luck.uniform(0, 8));
    turn.fault = make_fault(luck);
    const double deed = luck.uniform();
    if (deed < 0.1) turn.then = Deed::kProposeAgain;
    if (deed >= 0.1 && deed < 0.15) turn.then = Deed::kReadopt;
    if (deed >= 0.15 && deed < 0.2) turn.then = Deed::kRollBack;
    if (deed >= 0.2 && deed < 0.25) turn.then = Deed::kSpecFlip;
    if (deed >= 0.25 && deed < 0.3) turn.then = Deed::kNewLedger;
    turns.push_back(turn);
  }
  return turns;
}

Trouble make_trouble(std::uint64_t seed) {
  Stream luck(seed, kTrouble);
  Stream disk(seed, kDisk);
  Trouble trouble;
  if (disk.chance(0.1)) trouble.slow_disk_s = std::exp(disk.uniform(std::log(0.5), std::log(60)));
  if (luck.chance(0.7)) return trouble;
  if (luck.chance(0.4)) trouble.dies = luck.uniform(0, 0.15);
  if (luck.chance(0.3)) trouble.never_starts = luck.uniform(0, 0.3);
  if (luck.chance(0.2)) trouble.sleeps = luck.uniform(0, 0.05);
  if (luck.chance(0.3)) trouble.slow_start_s = luck.uniform(1, 40);
  return trouble;
}

// What a process does that would rather cheat in a way that it cannot here.
constexpr int kGarbage = 3;

// The same cheats in jobs that take no time, by real workers on this machine.
void make_real(Scenario& scenario) {
  Job& job = scenario.job;
  scenario.real = true;
  job.run_s = 0.03;
  job.noise = job.drift = job.outliers = job.second = 0;
  scenario.trouble = {};
  scenario.spec.command = {os::self_path(), "--act", std::to_string(scenario.seed), "--batch", "8"};
  scenario.spec.time_limit = std::chrono::seconds(2);
  scenario.spec.pairing = "same-allocation";
  scenario.config.lease_s = 30;
  scenario.config.slots = {os::usable_cpus().front()};
  for (Variant& variant : scenario.variants) {
    variant.change.accelerators.reset();
    for (int& row : variant.cheats) {
      if (cheats()[static_cast<std::size_t>(row)].virtual_only) row = kGarbage;
    }
  }
  std::erase_if(scenario.turns,
                [](const Turn& turn) { return turn.fault.kind == Fault::Kind::kClockStep; });
  for (Turn& turn : scenario.turns) {
    turn.gap_s = 0.1;
    if (turn.then == Deed::kNewLedger) turn.then = Deed::kNothing;
  }
}

// As `amdahl tune` plays it, with a budget of 30 to 500 runs: the campaign is the smaller, the
// smaller the budget.
void make_tune(Scenario& scenario) {
  Stream luck(scenario.seed, kTune);
  const double runs = std::exp(luck.uniform(std::log(30.0), std::log(500.0)));
  app::Config& config = scenario.config;
  config.campaign_alpha = app::Config{}.campaign_alpha;
  config = app::for_one_job(config, scenario.job.run_s, from_seconds(runs * scenario.job.run_s));
  scenario.person = false;
}

}  // namespace

const std::vector<Mistake>& mistakes() {
  using model::Spec;
  static const std::vector<Mistake> rows = {
      {"none", nullptr, [](Spec&) {}, false},
      {"the output's path has a typo", nullptr,
       [](Spec& s) { s.outputs.front().path = "{out}/resutl"; }, true},
      {"the glob of the inputs matches nothing", nullptr,
       [](Spec& s) { s.inputs = {"data/*.bni"}; }, true},
      {"it names no outputs and no quality", nullptr,
       [](Spec& s) {
         s.outputs.clear();
         s.quality.clear();
       },
       true},
      {"it names no inputs", nullptr, [](Spec& s) { s.inputs.clear(); }, true},
      {"its metric is one that the job does not report", timed,
       [](Spec& s) { s.metric = "secnods"; }, true},
      {"its metric's direction is wrong", timed,
       [](Spec& s) { s.lower_is_better = !s.lower_is_better; }, true},
      {"the pattern of the work matches nothing", by_pattern,
       [](Spec& s) { s.work_pattern = "itmes: ([0-9]+)"; }, true},
      {"its quality is a metric that the job does not report", scored,
       [](Spec& s) { s.quality.front().name = "acuracy"; }, true},
      {"an exact output is not digested", exact, [](Spec& s) { s.outputs.front().digest = false; },
       true},
      {"its outputs are a glob that takes in the log", exact,
       [](Spec& s) { s.outputs.front().path = "{out}/*"; }, true},
      {"the time limit is shorter than the job", nullptr,
       [](Spec& s) { s.time_limit = s.time_limit / 20; }, true},
      {"its inputs take in a file that every run writes", nullptr,
       [](Spec& s) {
         s.inputs = {"data/*.bin", "scratch/*"};
       },
       true},
  };
  return rows;
}

Scenario generate(std::uint64_t seed, const std::string& folder, const Mode& mode) {
  Scenario scenario;
  scenario.seed = seed;
  scenario.job = make_job(seed);
  scenario.spec = right_spec(scenario.job, folder);
  Stream luck(seed, kVariants);
  const std::size_t count = luck.chance(0.5) ? 1 : 2 + luck.below(3);
  bool chance_alone = false;  // Only the campaign's level keeps noise from being promoted.
  for (std::size_t i = 0; i < count; ++i) {
    scenario.variants.push_back(make_variant(scenario.job, static_cast<int>(i), luck));
    chance_alone |= scenario.variants.back().honest() && scenario.variants.back().effect <= 0;
  }
  Stream spec(seed, kSpec);
  if (spec.chance(0.3)) {
    const std::size_t row = 1 + spec.below(mistakes().size() - 1);
    const Mistake& mistake = mistakes()[row];
    if (!mistake.fits || mistake.fits(scenario.job)) {
      mistake.make(scenario.spec);
      scenario.mistake = static_cast<int>(row);
    }
  }
  scenario.person = spec.chance(0.15);
  const bool quick = !chance_alone && spec.chance(0.5);
  scenario.config = make_config(seed, folder, quick);
  scenario.config.gate_policy = scenario.person ? "" : "demo";
  scenario.campaign_seed = spec.hex(32);
  scenario.trouble = make_trouble(seed);
  scenario.turns = make_turns(seed);
  if (spec.chance(0.1) && scenario.config.slots.size() >= 2) scenario.spec.pairing = "concurrent";
  if (spec.chance(0.1)) scenario.spec.pairing = "steps";
  scenario.flag = spec.chance(0.15);
  if (scenario.flag) {
    scenario.variants.front().change.env.clear();
    scenario.variants.front().change.args["--batch"] = std::string(kTurned);
  }
  scenario.bad_family = spec.chance(0.08);
  if (mode.real) make_real(scenario);
  if (mode.tune) make_tune(scenario);
  return scenario;
}

std::string describe(const Scenario& s) {
  constexpr std::string_view kTells[] = {"in its report", "in its output", "not at all"};
  constexpr std::string_view kFaults[] = {"none",      "kill",       "kill asleep", "stop",
                                          "full disk", "clock step", "second cycle"};
  constexpr std::string_view kDeeds[] = {"",
                                         ", adopts the spec again",
                                         ", proposes again",
                                         ", rolls back",
                                         ", flips the metric",
                                         ", begins a new ledger"};
  std::string text = fmt::format(
      "seed {}: a job of {:.0f} s, {} items told {}, outputs {}, metric {} ({} is better), noise "
      "{:.3f}, drift {:.3f}, outliers {:.2f}, failures {:.2f}, second {:+.3f}{}\n",
      s.seed, s.job.run_s, s.job.items, kTells[static_cast<int>(s.job.tells)],
      s.job.exact ? "exact" : "scored", s.spec.metric, s.spec.lower_is_better ? "lower" : "higher",
      s.job.noise, s.job.drift, s.job.outliers, s.job.failures, s.job.second,
      s.job.strata ? ", two classes of inputs" : "");
  text += fmt::format("spec's mistake: {}; pairing {}{}{}\n",
                      mistakes()[static_cast<std::size_t>(s.mistake)].name, s.spec.pairing,
                      s.flag ? "; V0 is --batch, and -b" : "",
                      s.bad_family ? "; beside a family that cannot run" : "");
  text += fmt::format("campaign of {} at {}, {} slots, {} at once, gate: {}{}{}\n",
                      s.config.campaign_k, s.config.campaign_alpha, s.config.slots.size(),
                      s.config.per_family, s.person ? "a person" : "policy",
                      s.config.one_job ? ", as amdahl tune has it" : "",
                      s.config.budget_usd ? fmt::format(", {:.2f} USD", *s.config.budget_usd) : "");
  for (const Variant& v : s.variants) {
    text += fmt::format("  {}: true effect {:+.3f}, seems {:+.3f} more on all but {:.2f}, {}\n",
                        v.title, true_effect(v), v.fake, v.share,
                        sound(v) ? "sound" : "must not be promoted");
  }
  text += fmt::format(
      "workers: {:.2f} die, {:.2f} do not start at once, {:.2f} sleep for ever, start takes {:.0f} "
      "s{}\n",
      s.trouble.dies, s.trouble.never_starts, s.trouble.sleeps, s.trouble.slow_start_s,
      s.trouble.slow_disk_s > 0 ? fmt::format(", the disk {:.0f} s", s.trouble.slow_disk_s) : "");
  for (const Turn& t : s.turns) {
    text += fmt::format("  {}: {} at {} {}{}\n",
                        t.watch ? "watches" : fmt::format("{} cycles", t.cycles),
                        kFaults[static_cast<int>(t.fault.kind)], t.fault.point, t.fault.at,
                        kDeeds[static_cast<int>(t.then)]);
  }
  return text;
}

}  // namespace amdahl::adversary
