#include "mcp/runner.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/context.h"
#include "app/cycle.h"
#include "app/profile_now.h"
#include "app/tune.h"
#include "base/text.h"
#include "os/clock.h"

namespace amdahl::mcp {
namespace {

constexpr std::size_t kLinesKept = 20;

std::string_view name(Work work) {
  constexpr auto kNames = std::to_array<std::string_view>({"adopt", "profile", "test"});
  return kNames[static_cast<std::size_t>(work)];
}

std::string describe(const app::CycleSummary& done) {
  return fmt::format("{} runs ended, {} wait at the gate, {} parked, {}", done.ended_runs,
                     done.waiting_at_gate, done.parked,
                     done.settled ? "nothing is left to do"
                     : done.stopped_because.empty()
                         ? "at rest"
                         : fmt::format("stopped: {}", done.stopped_because));
}

}  // namespace

// A policy at the gate would let a client promote; a person decides, whatever is configured.
Runner::Runner(app::Config config, Grant grant)
    : config_{std::move(config)}, grant_{std::move(grant)} {
  config_.gate_policy.clear();
  config_.set_by["gate.policy"] = "mcp";
}

Runner::~Runner() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

bool Runner::is_running() { return running_; }

void Runner::say(const std::string& line) {
  const std::scoped_lock lock(mutex_);
  last_.said.push_back(line);
  if (last_.said.size() > kLinesKept) last_.said.erase(last_.said.begin());
}

// The mutex is held.
Nanos Runner::used() {
  return used_ + (running_ ? os::real_clock().monotonic() - began_ : Nanos{});
}

Result<> Runner::begin(Work work, const std::string& family, Nanos at_most) {
  const std::scoped_lock lock(mutex_);
  if (running_) {
    if (last_.family == family && last_.what == name(work)) return Ok{};
    return Error{Error::Kind::kBusy,
                 fmt::format("{} of {} is under way; ask loop_status until it is done", last_.what,
                             last_.family)};
  }
  const Nanos left = grant_.time - used();
  if (left <= Nanos{}) {
    return Error{Error::Kind::kBudget,
                 fmt::format("the {} that this session may run are used up; a person can connect "
                             "again with a larger --budget",
                             show_duration(grant_.time))};
  }
  if (thread_.joinable()) thread_.join();
  last_ = {family, std::string(name(work)), "", {}};
  began_ = os::real_clock().monotonic();
  running_ = true;
  thread_ = std::thread([this, work, family, limit = std::min(at_most, left)] {
    const std::string outcome = run(work, family, limit);
    const std::scoped_lock inner(mutex_);
    used_ += os::real_clock().monotonic() - began_;
    last_.outcome = outcome;
    running_ = false;
  });
  return Ok{};
}

// The configured limits, or the rest of the grant if lower.
Result<app::Config> Runner::limited(const std::string& family) {
  app::Config config = config_;
  app::Context context = TRY(app::open_context(config, true));
  for (const ledger::Budget& budget : TRY(context.ledger->budgets())) {
    const double taken = budget.spent + budget.committed;
    if (budget.resource == "accelerator_s" && !spent_before_s_) spent_before_s_ = taken;
    if (budget.resource == "usd" && !spent_before_usd_) spent_before_usd_ = taken;
  }
  const auto cap = [](std::optional<double>& limit, const std::optional<double>& granted,
                      double before) {
    if (granted) limit = std::min(limit.value_or(before + *granted), before + *granted);
  };
  cap(config.budget_accelerator_hours, grant_.accelerator_hours,
      spent_before_s_.emplace(spent_before_s_.value_or(0)) / 3600);
  cap(config.budget_usd, grant_.usd, spent_before_usd_.emplace(spent_before_usd_.value_or(0)));
  if (grant_.command.empty() || family.empty()) return config;
  const auto known = context.ledger->family(family);
  if (!known || !known->profile) return config;
  return app::for_one_job(config, to_seconds(known->profile->wall), grant_.time);
}

std::string Runner::run(Work work, const std::string& family, Nanos at_most) {
  const auto stopped = [this] { return stop_.load(); };
  const auto said = [this](const std::string& line) { say(line); };
  const auto done = [&]() -> Result<std::string> {
    const app::Config config = TRY(limited(work == Work::kAdopt ? "" : family));
    if (work == Work::kAdopt) {
      app::TuneOptions options;
      options.argv = grant_.command;
      options.family = grant_.family;
      options.accelerators = grant_.accelerators;
      options.budget = at_most;
      options.say = said;
      options.stopped = stopped;
      const app::TuneOutcome adopted = TRY(app::adopt_command(config, options));
      const std::scoped_lock lock(mutex_);
      last_.family = adopted.family;
      return fmt::format("{} is adopted; its spec is {}", adopted.family, adopted.spec_path);
    }
    app::Context context = TRY(app::open_context(config, false));
    if (work == Work::kProfile) {
      TRY(app::profile_now(context, family, said, stopped));
      return fmt::format("{} is profiled", family);
    }
    app::CycleOptions options;
    options.watch = true;
    options.family = family;
    options.time_limit = at_most;
    options.say = said;
    options.stopped = stopped;
    return describe(TRY(app::run_cycle(context, options)));
  }();
  return done ? *done : fmt::format("failed: {}", done.error().text);
}

Json Runner::state() {
  const std::scoped_lock lock(mutex_);
  return {{"running", running_.load()},
          {"what", last_.what},
          {"family", last_.family},
          {"said", last_.said},
          {"outcome", last_.outcome},
          {"time_left_s", std::max(0.0, to_seconds(grant_.time - used()))}};
}

}  // namespace amdahl::mcp
