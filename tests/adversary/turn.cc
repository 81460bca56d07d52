#include "turn.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "app/cycle.h"
#include "app/fleet.h"
#include "app/promote.h"
#include "app/propose.h"
#include "base/hash.h"
#include "launch/local/local.h"
#include "ledger/event.h"
#include "model/codec.h"
#include "os/files.h"

namespace amdahl::adversary {
namespace {

constexpr std::int64_t kMostSleeps = 20'000;
constexpr Nanos kLongest = std::chrono::hours(24 * 60);
constexpr Nanos kLongestReal = std::chrono::minutes(5);
constexpr rlim_t kCpuSeconds = 240;  // Of one process; a hang that never sleeps ends here.

void note_problem(World& world, const std::string& text) {
  std::strncpy(world.problem, text.c_str(), sizeof world.problem - 1);
}

std::string spec_file(const Scenario& scenario) { return scenario.spec.workdir + "/job.toml"; }

Result<> adopt(app::Context& context, const Scenario& scenario, const model::Spec& spec) {
  TRY(os::write_file(spec_file(scenario), to_toml(spec)));
  TRY(app::adopt_spec(context, spec_file(scenario), true));
  return Ok{};
}

app::Idea idea_of(const Variant& variant) {
  app::Idea idea;
  idea.change = variant.change;
  idea.title = variant.title;
  idea.gain = variant.gain;
  idea.actor = "mallory";
  return idea;
}

void limit(int resource, rlim_t value) {
  const rlimit limits{value, value};
  ::setrlimit(static_cast<__rlimit_resource>(resource), &limits);
}

// What the fault does before the first cycle.
void arm(const Scenario& scenario, const Fault& fault) {
  if (fault.kind == Fault::Kind::kKill) {
    ::setenv("AMDAHL_FAULT_POINT", fault.point.c_str(), 1);
    ::setenv("AMDAHL_FAULT_AT", std::to_string(fault.at).c_str(), 1);
  }
  if (fault.kind == Fault::Kind::kFullDisk) {
    std::signal(SIGXFSZ, SIG_IGN);
    std::error_code ignored;
    const auto size = std::filesystem::file_size(scenario.config.state_dir + "/ledger.db", ignored);
    limit(RLIMIT_FSIZE, static_cast<rlim_t>(ignored ? 0 : size) + 4096U * fault.at);
  }
}

// And what it does when the process has slept so many times.
void strike(const Scenario& scenario, World& world, const Fault& fault) {
  if (world.sleeps != fault.at) return;
  switch (fault.kind) {
    case Fault::Kind::kKillAsleep:
      std::raise(SIGKILL);
      break;
    case Fault::Kind::kClockStep:
      world.stepped_ns += from_seconds(fault.seconds).count();
      break;
    case Fault::Kind::kSecondCycle: {
      const auto other = Stage::open(scenario, world);
      if (!other) break;
      app::CycleOptions options;
      options.say = [](const std::string&) {};
      const auto ran = app::run_cycle((*other)->context, options);
      world.second_cycle_ran = ran || ran.error().kind != Error::Kind::kBusy;
      break;
    }
    default:
      break;
  }
}

}  // namespace

Result<std::unique_ptr<Stage>> Stage::open(const Scenario& scenario, World& world) {
  std::unique_ptr<Stage> stage(new Stage(world));
  app::Context& context = stage->context;
  context.config = scenario.config;
  context.hardware = "cpu: virtual";
  TRY(app::make_state(scenario.config.state_dir));
  if (scenario.real) {
    ::setenv("AMDAHL_WORKER", AMDAHL_PROGRAM, 1);
    context.clock = &os::real_clock();
    context.ledger = TRY(ledger::open_sqlite(context.path("ledger.db"), {}));
    context.launcher = launch::local::make(scenario.config.state_dir);
    return stage;
  }
  context.clock = &stage->clock;
  context.ledger = TRY(ledger::open_sqlite(context.path("ledger.db"), {}, stage->clock));
  auto sleeper = std::make_unique<Sleeper>(scenario, world, stage->clock);
  stage->clock.next_end = [launcher = sleeper.get()] { return launcher->next_end(); };
  context.launcher = std::move(sleeper);
  return stage;
}

std::string story_path(const Scenario& scenario) { return scenario.spec.workdir + "/story.txt"; }

void tell(const Scenario& scenario, const World& world, const std::string& line) {
  std::ofstream file(story_path(scenario), std::ios::app);
  file << fmt::format("{:9.1f} s  {}\n", to_seconds(Nanos(world.now_ns)), line);
}

namespace {

Result<> add_bad_family(app::Context& context, const Scenario& scenario) {
  model::Spec spec = scenario.spec;
  spec.family = "bad";
  spec.cpus = 999;
  TRY(adopt(context, scenario, spec));
  app::Idea idea;
  idea.change.env["BAD"] = "on";
  idea.title = "bad";
  idea.actor = "mallory";
  TRY(app::propose_change(context, spec.family, idea));
  return Ok{};
}

// The runs of the old one stay where they are.
Result<> begin_anew(const Scenario& scenario, World& world) {
  for (const char* end : {"", "-wal", "-shm"}) {
    std::error_code ignored;
    std::filesystem::remove(scenario.config.state_dir + "/ledger.db" + end, ignored);
  }
  ++world.ledger;
  world.executions = world.resubmitted = 0;
  world.used_s = 0;
  return prepare(scenario, world);
}

}  // namespace

Result<> prepare(const Scenario& scenario, World& world) {
  const std::unique_ptr<Stage> stage = TRY(Stage::open(scenario, world));
  app::Context& context = stage->context;
  TRY(os::make_dirs(scenario.spec.workdir + "/data"));
  TRY(os::write_file(scenario.spec.workdir + "/data/a.bin", "input\n"));
  TRY(adopt(context, scenario, scenario.spec));
  TRY(app::note(context, {"campaign.opened",
                          "cycle",
                          "c1",
                          {{"k", scenario.config.campaign_k},
                           {"alpha", scenario.config.campaign_alpha},
                           {"seed", scenario.campaign_seed},
                           {"seed_hash", sha256_hex(scenario.campaign_seed)}}}));
  for (const Variant& variant : scenario.variants) {
    TRY(app::propose_change(context, scenario.spec.family, idea_of(variant)));
  }
  if (scenario.bad_family) TRY(add_bad_family(context, scenario));
  if (!scenario.flag) return Ok{};
  app::Idea alias = idea_of(scenario.variants.front());
  alias.change.args = {{"-b", std::string(kTurned)}};
  alias.gain = std::min(0.9, 2 * alias.gain);
  world.alias_accepted = bool{app::propose_change(context, scenario.spec.family, alias)};
  return Ok{};
}

TurnEnd live(const Scenario& scenario, World& world, const Turn& turn) {
  limit(RLIMIT_CPU, kCpuSeconds);
  arm(scenario, turn.fault);
  world.sleeps = 0;
  const auto opened = Stage::open(scenario, world);
  if (!opened) {
    note_problem(world, opened.error().text);
    return TurnEnd::kError;
  }
  Stage& stage = **opened;
  stage.clock.on_sleep = [&] { strike(scenario, world, turn.fault); };
  bool hangs = false;
  const Nanos began = os::real_clock().monotonic();
  Nanos told{};
  app::CycleOptions options;
  options.watch = turn.watch;
  options.say = [&](const std::string& line) { tell(scenario, world, line); };
  options.stopped = [&] {
    if (scenario.real) {
      const Nanos passed = os::real_clock().monotonic() - began;
      world.now_ns += (passed - told).count();
      told = passed;
      ++world.sleeps;
      strike(scenario, world, turn.fault);
    }
    hangs = scenario.real ? told > kLongestReal
                          : world.sleeps > kMostSleeps || Nanos(world.now_ns) > kLongest;
    return hangs || (turn.fault.kind == Fault::Kind::kStop && world.sleeps >= turn.fault.at);
  };
  bool settled = false;
  for (int i = 0; i < (turn.watch ? 1 : turn.cycles) && !settled; ++i) {
    const auto summary = app::run_cycle(stage.context, options);
    if (!summary) {
      note_problem(world, summary.error().text);
      return TurnEnd::kError;
    }
    // A family that cannot run never settles, but the loop comes to rest all the same.
    settled = summary->settled || summary->stopped_because == "budget" ||
              (turn.watch && !summary->skipped.empty() && summary->stopped_because.empty());
    if (!turn.watch) world.now_ns += from_seconds(turn.gap_s).count();
  }
  if (hangs) return TurnEnd::kHangs;
  return settled ? TurnEnd::kSettled : TurnEnd::kGoesOn;
}

Result<bool> act(const Scenario& scenario, World& world, Deed deed) {
  if (deed == Deed::kNothing) return false;
  if (deed == Deed::kNewLedger) {
    tell(scenario, world, "PERSON begins a new ledger beside the old runs");
    TRY(begin_anew(scenario, world));
    return false;
  }
  const std::unique_ptr<Stage> stage = TRY(Stage::open(scenario, world));
  app::Context& context = stage->context;
  model::Spec spec = scenario.spec;
  switch (deed) {
    case Deed::kReadopt:
      spec.time_limit *= 2;
      tell(scenario, world, "PERSON adopts the spec with another time limit");
      TRY(adopt(context, scenario, spec));
      break;
    case Deed::kSpecFlip:
      spec.lower_is_better = !spec.lower_is_better;
      if (!scenario.job.timed) spec.outputs = {{"{out}/elsewhere", true}};
      tell(scenario, world, "PERSON makes the spec wrong");
      TRY(adopt(context, scenario, spec));
      return true;
    case Deed::kProposeAgain:
      for (const Variant& variant : scenario.variants) {
        const auto again = app::propose_change(context, scenario.spec.family, idea_of(variant));
        tell(scenario, world, "PERSON proposes again: " + (again ? again->id : again.error().text));
      }
      break;
    case Deed::kRollBack:
      for (const std::string& id : TRY(context.ledger->family(scenario.spec.family)).stack) {
        tell(scenario, world, "PERSON rolls back " + id);
        TRY(app::roll_back(context, id, "ada", "to see what happens"));
        break;
      }
      break;
    case Deed::kNewLedger:
    case Deed::kNothing:
      break;
  }
  return false;
}

Result<int> propose_aborted(const Scenario& scenario, World& world) {
  const std::unique_ptr<Stage> stage = TRY(Stage::open(scenario, world));
  app::Context& context = stage->context;
  int proposed = 0;
  for (const Variant& variant : scenario.variants) {
    std::string state;
    Nanos since{-1};
    for (const ledger::HypothesisRow& row : TRY(context.ledger->hypotheses("", ""))) {
      if (row.hypothesis.title != variant.title || row.since < since) continue;
      state = row.state;
      since = row.since;
    }
    if (state != "aborted") continue;
    const auto again = app::propose_change(context, scenario.spec.family, idea_of(variant));
    tell(scenario, world, "PERSON proposes again: " + (again ? again->id : again.error().text));
    proposed += again ? 1 : 0;
  }
  return proposed;
}

Result<int> decide_all(const Scenario& scenario, World& world, int round) {
  const std::unique_ptr<Stage> stage = TRY(Stage::open(scenario, world));
  app::Context& context = stage->context;
  sim::Stream luck(scenario.seed, 77, static_cast<std::uint64_t>(round));
  int decided = 0;
  for (const ledger::GateRow& row : TRY(context.ledger->gate("pending"))) {
    const model::GateDecision decision{luck.chance(0.8), "ada", "as the packet says"};
    const auto done = app::decide(context, row, decision);
    tell(scenario, world, "PERSON decides: " + (done ? *done : done.error().text));
    decided += done ? 1 : 0;
  }
  return decided;
}

}  // namespace amdahl::adversary
