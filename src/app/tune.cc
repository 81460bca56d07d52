#include "app/tune.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "app/context.h"
#include "app/fleet.h"
#include "app/profile_now.h"
#include "app/run.h"
#include "app/stack.h"
#include "app/tune_ceilings.h"
#include "app/tuned.h"
#include "base/count.h"
#include "base/hash.h"
#include "base/text.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/host.h"
#include "os/left.h"
#include "os/opens.h"

namespace amdahl::app {
namespace {

constexpr int kStackPairs = 4;
constexpr double kMostForStack = 0.25;  // Of the budget.
constexpr int kCeilingPairs = 3;
constexpr double kMostForCeilings = 0.1;  // Of the budget, before the first idea is tested.
constexpr int kIdeasOnOneCause = 2;       // Fewer cost less to test than their ceiling.
// Pairs until an idea is promoted, with those that it shares a baseline with.
constexpr double kPairsPerIdea = 10;
// Until the first promotion: two to learn the job, two for its profile, and 24 of the pairs that
// src/loop/one_job_test.cc counts.
constexpr int kRunsToWin = 28;
// Seconds: from there on the first win comes sooner where fewer ideas share a baseline.
constexpr double kLongJob = 10;
constexpr std::size_t kMostOutput = 16 * 1024 * 1024;

// Whether the spec is of what was typed; its environment may have more than the command sets.
bool is_of_command(const model::Spec& spec, std::vector<std::string> argv) {
  const std::map<std::string, std::string> set = take_environment(argv);
  return spec.command == argv && std::ranges::all_of(set, [&](const auto& variable) {
           const auto found = spec.env.find(variable.first);
           return found != spec.env.end() && found->second == variable.second;
         });
}

class Tuner {
 public:
  Tuner(const Config& config, const TuneOptions& options)
      : config_{config}, options_{options}, clock_{os::real_clock()}, began_{clock_.monotonic()} {}

  Result<TuneOutcome> adopt_only() {
    TRY(find_or_adopt());
    return std::move(outcome_);
  }

  Result<TuneOutcome> run() {
    outcome_.began = clock_.unix_time();
    TRY(find_or_adopt());
    if (!stopped()) TRY(turn());
    TRY(measure());
    TRY(write_edits());
    Context context = TRY(open_context(config_, true));
    TRY(collect_tuned(context, outcome_));
    return std::move(outcome_);
  }

 private:
  bool stopped() const { return options_.stopped && options_.stopped(); }
  Nanos elapsed() const { return clock_.monotonic() - began_; }

  Result<> find_or_adopt();
  Result<> adopt();
  Result<SeenRun> run_once(std::string_view which);
  Result<> write_draft(const model::Spec& spec, const std::vector<std::string>& notes);
  Result<> turn();
  Result<> weigh(Context& context, int ideas);
  Result<> measure();
  Result<> write_edits();

  Config config_;
  const TuneOptions& options_;
  os::Clock& clock_;
  Nanos began_;
  std::string workdir_;
  double job_s_ = 1;
  TuneOutcome outcome_;
};

// The family of this command, if an earlier call made one; a person may have edited its spec since.
Result<> Tuner::find_or_adopt() {
  workdir_ = TRY(os::working_folder());
  Context context = TRY(open_context(config_, true));
  if (!options_.spec_file.empty()) {
    const Adopted adopted = TRY(adopt_spec(context, options_.spec_file, true));
    outcome_.family = adopted.spec.family;
    outcome_.spec_path = adopted.path;
    return Ok{};
  }
  outcome_.family = options_.family.empty() ? family_of(options_.argv) : options_.family;
  for (const ledger::Family& family : TRY(context.ledger->families())) {
    const bool same = is_of_command(family.spec, options_.argv) && family.spec.workdir == workdir_;
    if (same && (options_.family.empty() || family.name == options_.family)) {
      outcome_.family = family.name;
      if (options_.anew) return adopt();
      outcome_.spec_path = context.path(fmt::format("specs/{}.toml", family.name));
      if (os::exists(outcome_.spec_path)) TRY(adopt_spec(context, outcome_.spec_path, true));
      options_.say(fmt::format("resumes {}; its spec: {}", family.name, outcome_.spec_path));
      return Ok{};
    }
    // Another command of the same script is another job.
    if (family.name == outcome_.family && options_.family.empty()) {
      outcome_.family += "-" + sha256_hex(join(options_.argv, "\n") + "\n" + workdir_).substr(0, 4);
    }
  }
  return adopt();
}

Result<SeenRun> Tuner::run_once(std::string_view which) {
  options_.say(fmt::format("runs the job as it is, for the {} time", which));
  RunOptions run;
  run.argv = options_.argv;
  run.family = outcome_.family;
  run.accelerators = options_.accelerators;
  run.quiet = true;
  run.no_input = true;
  run.time_limit_s = to_seconds(options_.budget);
  os::OpenedFiles opened(workdir_, config_.state_dir);
  const RunOutcome ran = TRY(run_job(config_, run));
  SeenRun seen;
  seen.opened = opened.stop();
  seen.receipt = ran.receipt;
  const std::string folder = std::filesystem::path(ran.receipt_file).parent_path().string();
  if (os::is_plain(folder + "/stdout")) {
    if (const auto text = os::read_tail(folder + "/stdout", kMostOutput)) seen.output = *text;
  }
  seen.written = files_written(workdir_, ran.receipt.started, config_.state_dir);
  options_.say(fmt::format("it took {}", show_duration(ran.receipt.wall)));
  if (ran.receipt.ending == model::Ending::kCancelled) {
    return external("interrupted; run the same command again to resume");
  }
  return seen;
}

Result<> Tuner::write_draft(const model::Spec& spec, const std::vector<std::string>& notes) {
  Context context = TRY(open_context(config_, true));
  TRY(os::make_dirs(context.path("specs")));
  outcome_.spec_path = context.path(fmt::format("specs/{}.toml", spec.family));
  std::string text =
      "# Drafted by `amdahl tune` from two runs. Edit it and run the same command again.\n";
  for (const Inferred& fact : outcome_.inferred) {
    text += fmt::format("# {}: {} ({:.0f} % sure): {}\n", fact.field, clip(fact.value, 200),
                        100 * fact.confidence, fact.because);
  }
  for (const std::string& line : notes) text += fmt::format("# {}\n", line);
  TRY(os::write_file(outcome_.spec_path, text + model::to_toml(spec)));
  TRY(adopt_spec(context, outcome_.spec_path, true));
  return Ok{};
}

Result<> Tuner::adopt() {
  options_.say(fmt::format(
      "the job runs in {} as you would run it, dozens of times: what it writes there is "
      "written again each time",
      workdir_));
  const SeenRun first = TRY(run_once("first"));
  const SeenRun second = succeeded(first.receipt) ? TRY(run_once("second")) : first;
  const model::Receipt& receipt = second.receipt;
  Draft draft;
  draft.spec.family = outcome_.family;
  // What ended badly has no draft; infer() says what to do about it.
  if (succeeded(first.receipt) && succeeded(receipt)) {
    draft = TRY(draft_spec(usage_of(receipt, os::user_name(), workdir_), outcome_.family));
  }
  draft.spec.env.merge(settings_in_environment());  // What the command sets comes first.
  give_effects(draft.spec);
  job_s_ = std::max(0.1, to_seconds(receipt.wall));
  draft.spec.time_limit = from_seconds(std::max(30.0, 8 * job_s_));
  outcome_.inferred = TRY(infer(first, second, draft.spec));
  for (const Inferred& fact : outcome_.inferred) {
    options_.say(fmt::format("{}: {} ({:.0f} % sure: {})", fact.field, clip(fact.value, 160),
                             100 * fact.confidence, fact.because));
  }
  if (!draft.no_patches.empty()) options_.say(draft.no_patches);
  if (kRunsToWin * job_s_ > to_seconds(options_.budget)) {
    options_.say(fmt::format(
        "a win takes about {} runs, here {}, more than the budget of {}: give the job less work, "
        "or pass a larger --budget",
        kRunsToWin, show_duration(from_seconds(kRunsToWin * job_s_)),
        show_duration(options_.budget)));
  }
  return write_draft(draft.spec, {});
}

Result<> Tuner::turn() {
  {
    Context context = TRY(open_context(config_, true));
    const ledger::Family family = TRY(need_family(context, outcome_.family));
    if (family.profile) job_s_ = std::max(0.1, to_seconds(family.profile->wall));
  }
  config_ = for_one_job(config_, job_s_, options_.budget);
  Context context = TRY(open_context(config_, true));
  TRY(weigh(context, kIdeasOnOneCause));
  CycleOptions cycle;
  cycle.watch = true;
  cycle.family = outcome_.family;
  cycle.say = options_.say;
  if (options_.tick) {
    cycle.tick = [this](Ticker now) {
      now.elapsed = elapsed();  // A second cycle follows the first win.
      options_.tick(now);
    };
  }
  cycle.stopped = options_.stopped;
  bool won = !TRY(need_family(context, outcome_.family)).stack.empty();
  if (!won) {
    cycle.until = "first-win";
    cycle.time_limit = time_for_ideas(options_.budget, elapsed(), job_s_, false);
    outcome_.cycle = TRY(run_cycle(context, cycle));
    won = !TRY(need_family(context, outcome_.family)).stack.empty();
  }
  if (!won) return weigh(context, 0);
  cycle.until = "settled";
  cycle.time_limit = time_for_ideas(options_.budget, elapsed(), job_s_, true);
  // With no time left, it waits only for the runs that the first win left in flight.
  if (stopped()) return Ok{};
  outcome_.cycle = TRY(run_cycle(context, cycle));
  return Ok{};
}

// What the job would gain without a cause that so many ideas act on, where there is time to measure
// it: before they are tested, it says which cannot pay; after them, why nothing was won.
Result<> Tuner::weigh(Context& context, int ideas) {
  const ledger::Family family = TRY(need_family(context, outcome_.family));
  const double runs = kCeilingPairs * 2.0 * job_s_;
  const double most = ideas > 0 ? kMostForCeilings * to_seconds(options_.budget)
                                : to_seconds(options_.budget - elapsed());
  if (stopped() || runs > most || !outcome_.ceilings.empty() || !family.stack.empty()) return Ok{};
  if (!family.profile) {
    const auto profiled = profile_now(context, outcome_.family, options_.say, options_.stopped);
    if (!profiled) return Ok{};  // The cycle tries again, and says what is wrong.
  }
  const std::vector<std::string> causes = TRY(causes_to_measure(context, outcome_.family, ideas));
  auto ceilings = weigh_ideas(
      context, causes,
      {outcome_.family, kCeilingPairs, options_.say, options_.stopped, outcome_.spec_path});
  if (ceilings) outcome_.ceilings = *std::move(ceilings);
  if (!ceilings)
    options_.say(fmt::format("the ceiling was not measured: {}", ceilings.error().text));
  return Ok{};
}

// The changes together, against the job as it was, on pairs that chose none of them.
Result<> Tuner::measure() {
  Context context = TRY(open_context(config_, true));
  const ledger::Family family = TRY(need_family(context, outcome_.family));
  if (family.stack.empty() || stopped()) return Ok{};
  const auto earlier = TRY(context.ledger->stacks(outcome_.family));
  const auto changes = static_cast<int>(family.stack.size());
  if (!earlier.empty() && earlier.back().changes == changes) {
    outcome_.stack = earlier.back();
    return Ok{};
  }
  // One change by itself was measured on fresh pairs already.
  const double left = to_seconds(options_.budget - elapsed());
  if (changes == 1 && left < 2 * job_s_ * kStackPairs) return Ok{};
  options_.say(
      fmt::format("measures {} together, {} pairs", counted(changes, "change"), kStackPairs));
  StackOptions stack;
  stack.pairs = kStackPairs;
  stack.say = options_.say;
  stack.stopped = options_.stopped;
  auto result = measure_stack(context, outcome_.family, stack);
  if (result) outcome_.stack = *result;
  if (!result) options_.say(fmt::format("the changes together: {}", result.error().text));
  return Ok{};
}

// Promoted injections as edits of the source, as far as there is time to test them.
Result<> Tuner::write_edits() {
  Context context = TRY(open_context(config_, true));
  const ledger::Family family = TRY(need_family(context, outcome_.family));
  const auto has_time = [&] {
    return !stopped() && to_seconds(options_.budget - elapsed()) >= 2 * job_s_ * kStackPairs;
  };
  for (const std::string& id : family.stack) {
    if (!has_time()) return Ok{};
    const model::Hypothesis won = TRY(context.ledger->hypothesis(id)).hypothesis;
    auto test =
        test_commit(context, family, won, {kStackPairs, options_.say, options_.stopped}, has_time);
    if (test) outcome_.commits[id] = *std::move(test);
    if (!test) options_.say(fmt::format("the edit was not tested: {}", test.error().text));
  }
  return Ok{};
}

}  // namespace

Nanos time_for_ideas(Nanos budget, Nanos elapsed, double job_s, bool won) {
  // Before anything is won there is nothing to measure together.
  const double kept_s =
      won ? std::min(2 * job_s * (kStackPairs + 1), kMostForStack * to_seconds(budget)) : 0;
  return std::max(Nanos{0}, budget - elapsed - from_seconds(kept_s));
}

Config for_one_job(Config config, double job_s, Nanos budget) {
  const auto set = [&](const char* name, auto& field, auto value) {
    if (!config.set_by.contains(name)) field = value;
  };
  const double ideas = to_seconds(budget) / std::max(1.0, 2 * job_s * kPairsPerIdea);
  set("campaign.k", config.campaign_k, std::clamp(static_cast<int>(ideas * 2), 6, 40));
  // With fewer than six the panel cannot rule on A against A, and would buy a dozen.
  set("compare.same_pairs", config.same_pairs, 6);
  set("compare.cap", config.cap, 16);
  // Less does not matter to a person, and noise would hide it.
  set("compare.min_gain", config.min_gain, 0.02);
  set("loop.per_family", config.per_family, job_s > kLongJob ? 2 : 3);
  set("loop.worth_at_least", config.worth_at_least, 0.0);
  set("loop.busy_hosts", config.busy_hosts, false);
  set("canary.runs", config.canary_runs, 0);
  set("gate.policy", config.gate_policy, std::string("tune"));
  config.one_job = true;
  return config;
}

Result<> set_budget(const std::string& text, TuneOptions& options, Config& config) {
  const auto wrong = [&] {
    return bad_input(
        fmt::format("--budget must be a time (20m, 1h30m), accelerator-hours (2ah) or "
                    "money ($5), not '{}'",
                    text));
  };
  if (text.starts_with("$")) {
    config.budget_usd = to_number<double>(text.substr(1));
    return config.budget_usd && *config.budget_usd > 0 ? Result<>(Ok{}) : wrong();
  }
  if (text.ends_with("ah")) {
    config.budget_accelerator_hours = to_number<double>(text.substr(0, text.size() - 2));
    const auto& hours = config.budget_accelerator_hours;
    return hours && *hours > 0 ? Result<>(Ok{}) : wrong();
  }
  double seconds = 0;
  std::size_t from = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char unit = text[at];
    const double each = unit == 'h' ? 3600 : unit == 'm' ? 60 : unit == 's' ? 1 : 0;
    if (each == 0) continue;
    const auto count = to_number<double>(text.substr(from, at - from));
    if (!count || *count < 0) return wrong();
    seconds += each * *count;
    from = at + 1;
  }
  if (seconds <= 0 || from != text.size()) return wrong();
  options.budget = from_seconds(seconds);
  return Ok{};
}

Result<TuneOutcome> adopt_command(const Config& config, const TuneOptions& options) {
  return Tuner(config, options).adopt_only();
}

Result<TuneOutcome> tune(const Config& config, const TuneOptions& options) {
  if (options.argv.empty() && options.spec_file.empty()) {
    return bad_input("nothing to tune; type: amdahl tune -- CMD");
  }
  return Tuner(config, options).run();
}

}  // namespace amdahl::app
