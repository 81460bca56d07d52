#include "app/run.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/context.h"
#include "app/private_state.h"
#include "app/production.h"
#include "app/store.h"
#include "base/text.h"
#include "launch/environment.h"
#include "launch/local/allocation.h"
#include "launch/local/patched.h"
#include "model/codec.h"
#include "model/plan.h"
#include "model/spec.h"
#include "observe/config.h"
#include "observe/supervisor.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::app {
namespace {

// Sorts by time, so that the last job is the last name.
std::string new_job_id(os::Clock& clock) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(clock.unix_time()).count();
  return fmt::format("j-{:%Y%m%d-%H%M%S}-{}", fmt::gmtime(static_cast<std::time_t>(seconds)),
                     os::random_hex(4));
}

// Programs whose first words say how something is run, and then what.
bool is_interpreter(const std::string& name) {
  constexpr auto kOthers = std::to_array<std::string_view>(
      {"sh", "bash", "env", "perl", "node", "torchrun", "accelerate", "deepspeed", "mpirun",
       "mpiexec", "srun", "nice", "numactl", "taskset", "timeout", "stdbuf", "nohup", "setsid"});
  return name.starts_with("python") || std::ranges::find(kOthers, name) != kOthers.end();
}

bool is_script(std::string_view word) {
  constexpr auto kEndings = std::to_array<std::string_view>({".py", ".sh", ".pl", ".js"});
  return std::ranges::any_of(kEndings,
                             [&](std::string_view ending) { return word.ends_with(ending); });
}

bool is_setting(std::string_view word) {
  const std::size_t equals = word.find('=');
  return equals != word.npos && word.find('/') > equals;
}

// "train" of "python3 -m train"; modules that only start others are none.
std::string module_in(const std::vector<std::string>& argv) {
  const auto flag = std::ranges::find(argv, "-m");
  if (flag == argv.begin() || flag == argv.end() || flag + 1 == argv.end()) return "";
  const std::string before = std::filesystem::path(*(flag - 1)).filename().string();
  const bool is_python = before.starts_with("python") || before.starts_with('-');
  const std::string& name = *(flag + 1);
  return is_python && !name.starts_with("torch.") && !name.starts_with("accelerate") ? name : "";
}

// What is run, without its folder and ending.
std::string program_in(const std::vector<std::string>& argv) {
  const auto stem = [](const std::string& word) {
    return std::filesystem::path(word).stem().string();
  };
  if (argv.empty() || !is_interpreter(std::filesystem::path(argv.front()).filename().string())) {
    return argv.empty() ? "" : stem(argv.front());
  }
  if (const std::string module = module_in(argv); !module.empty()) return module;
  std::string last;
  bool is_text = false;  // A script given as text comes next.
  for (const std::string& word : argv) {
    const bool is_skipped = is_text || word.starts_with('-') || is_setting(word) ||
                            word.find_first_of(" \t\n") != word.npos || to_number<double>(word);
    is_text = word == "-c";
    if (is_skipped) continue;
    const bool is_how = is_interpreter(std::filesystem::path(word).filename().string());
    const bool is_path = word.find('/') != word.npos;
    if (is_script(word) || (is_path && !is_how)) return stem(word);
    // After other programs' own options a bare word may be a value of theirs.
    if (last.empty() || is_interpreter(last) || is_how) last = stem(word);
  }
  return last;
}

Result<model::Spec> load_spec(const std::string& file) {
  const std::string path = os::absolute(file);
  const std::string text = TRY(os::read_file(path));
  return model::parse_spec(text, file, std::filesystem::path(path).parent_path().string());
}

void take_flags(const RunOptions& options, observe::RunOrder& order) {
  if (options.time_limit_s > 0) order.time_limit = from_seconds(options.time_limit_s);
  if (options.memory_limit_mb > 0) order.memory_limit_mb = options.memory_limit_mb;
}

// What was typed in the terms of its family, which knows how flags are spelled, what is work and
// where patches go. The spec's own environment is for its own command.
Result<model::Spec> typed_spec(const RunOptions& options, const model::Spec& family) {
  model::Spec spec = family;
  if (!options.spec_file.empty()) {
    spec = TRY(load_spec(options.spec_file));
  } else if (!options.argv.empty()) {
    spec.command = options.argv;
    spec.workdir = TRY(os::working_folder());
    spec.env.clear();
  }
  if (options.accelerators > 0) spec.accelerators = options.accelerators;
  return spec;
}

// If one arm of a canary is patched, both run in worktrees, as the arms of a pair do.
Result<model::Plan> stacked_plan(const model::Spec& spec, const model::Change& change, bool in_tree,
                                 const Config& config, const observe::RunOrder& order) {
  model::Plan plan = TRY(make_plan(spec, change));
  if (in_tree) {
    plan = TRY(launch::local::in_patched_tree(spec, plan, config.state_dir + "/trees"));
  }
  // The supervisor does it again; here it says whether it can be done.
  std::vector<std::string> argv = plan.argv;
  TRY(observe::apply_config(plan.config, plan.workdir, order.out_dir, argv));
  return plan;
}

// From the ledger if it is a file here. A compute node needs no access to a shared ledger: files
// beside the runs say all.
Result<Production> production_for(const Config& config, const std::string& family) {
  if (!is_shared(config)) {
    Context context = TRY(open_context(config, false));
    return production_of(*context.ledger, TRY(need_family(context, family)));
  }
  const std::string path = fmt::format("{}/overlays/{}.json", config.state_dir, family);
  const auto text = os::read_file(path);
  if (!text) {
    return Error{Error::Kind::kNotFound,
                 fmt::format("{} cannot be read: nothing was promoted for '{}' yet, or the name "
                             "differs",
                             path, family)};
  }
  return read_production(*text).in(path);
}

// A production job is not to fail for our sake: if the stack cannot be applied to what was typed,
// it runs as typed, and the outcome says why.
Result<ProductionRun> join_production(const Config& config, const RunOptions& options,
                                      observe::RunOrder& order, RunOutcome& outcome) {
  auto known = production_for(config, order.family);
  if (!known) {
    const bool as_typed = is_shared(config) && !options.argv.empty();
    if (!as_typed) return known.error();
    outcome.warning = known.error().text;
    return ProductionRun{};
  }
  const Production family = *std::move(known);
  const model::Spec spec = TRY(typed_spec(options, family.spec));
  if (options.argv.empty()) observe::take_limits(spec, order);
  observe::take_work(spec, order);
  take_flags(options, order);
  const bool in_tree = !family.baseline.patch.empty();
  const auto whole = stacked_plan(spec, family.baseline, in_tree, config, order);
  if (!whole) {
    if (options.argv.empty()) return whole.error();
    outcome.warning = whole.error().text;
    return ProductionRun{};
  }
  model::Usage begun;
  begun.job = outcome.job;
  begun.user = os::user_name();
  begun.workdir = whole->workdir;
  begun.accelerators = whole->accelerators;
  begun.start = os::real_clock().unix_time();
  ProductionRun production = TRY(begin_production(config.state_dir, family, begun));
  order.plan = *whole;
  if (production.canary.held_back.empty()) return production;
  auto without = stacked_plan(spec, production.change, in_tree, config, order);
  if (without) {
    order.plan = *std::move(without);
  } else {
    outcome.warning = without.error().text;
    TRY(leave_canaries(production));
  }
  return production;
}

}  // namespace

std::string family_of(const std::vector<std::string>& argv) {
  std::string family = program_in(argv);
  if (family.empty()) family = "job";
  family = lower(family);
  for (char& c : family) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
    if (!fine) c = '-';
  }
  return family.front() == '-' || family.front() == '.' ? "job" + family : family;
}

Result<observe::RunOrder> order_of(const RunOptions& options) {
  observe::RunOrder order;
  const int gpus = observe::gpu_count();
  const int usable = static_cast<int>(os::usable_cpus().size());
  order.plan.argv = options.argv;
  order.plan.workdir = TRY(os::working_folder());
  order.plan.accelerators = gpus > 0 ? gpus : usable;
  order.family = family_of(options.argv);
  if (!options.spec_file.empty()) {
    const model::Spec spec = TRY(load_spec(options.spec_file));
    order.plan = TRY(make_plan(spec, {}));
    order.family = spec.family;
    observe::take_limits(spec, order);
    observe::take_work(spec, order);
  }
  if (!options.family.empty()) order.family = options.family;
  if (options.accelerators > 0) order.plan.accelerators = options.accelerators;
  take_flags(options, order);
  return order;
}

Result<RunOutcome> run_job(const Config& config, const RunOptions& options) {
  const bool of_family = options.promoted && !options.family.empty();
  if (options.argv.empty() && options.spec_file.empty() && !of_family) {
    return bad_input("nothing to run; type: amdahl run -- CMD");
  }
  RunOutcome outcome;
  os::Clock& clock = os::real_clock();
  outcome.job = new_job_id(clock);
  observe::RunOrder order = TRY(order_of(options));
  order.id = outcome.job;
  order.out_dir = fmt::format("{}/jobs/{}", config.state_dir, outcome.job);
  order.state_dir = fmt::format("{}/jobs-state/{}", config.state_dir, order.family);
  order.pass_input = !options.no_input;
  order.pass_output = !options.quiet;
  TRY(make_private_state(config.state_dir));
  TRY(make_state(order.out_dir));
  TRY(make_state(config.state_dir + "/usage"));
  ProductionRun production;
  if (options.promoted) production = TRY(join_production(config, options, order, outcome));
  outcome.canary = production.canary;
  // A change that claims fewer accelerators is to use fewer, whatever the scheduler gave.
  const bool claims = production.change.accelerators && order.plan.accelerators > 0;
  if (claims) {
    outcome.held = launch::local::limit_devices(launch::own_environment(), order.plan);
  }
  outcome.receipt = TRY(observe::supervise(order, clock, [&](const observe::Live& live) {
    show_alive(production, live.elapsed, clock.unix_time());
  }));

  if (const auto gpus = os::read_file(order.out_dir + "/gpus.jsonl")) {
    outcome.gpus = TRY(profile::read_gpus(*gpus).in("gpus.jsonl"));
  }

  outcome.receipt_file = order.out_dir + "/receipt.json";
  outcome.usage_file = fmt::format("{}/usage/{}.json", config.state_dir, outcome.job);
  TRY(os::write_file(outcome.receipt_file, dump_json(encode(outcome.receipt))));
  model::Usage usage = usage_of(outcome.receipt, os::user_name(), order.plan.workdir);
  usage.canary = production.canary;
  TRY(end_production(production, usage));
  usage.accelerators = std::max(usage.accelerators, outcome.held);
  TRY(os::write_file(outcome.usage_file, dump_json(encode(usage))));
  return outcome;
}

}  // namespace amdahl::app
