#include "app/run.h"

#include <ctime>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "model/codec.h"
#include "model/plan.h"
#include "model/spec.h"
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

bool is_interpreter(const std::string& name) {
  return name.starts_with("python") || name == "sh" || name == "bash" || name == "env" ||
         name == "torchrun" || name == "perl" || name == "node";
}

// As the command line says, or as the spec does; flags win.
Result<observe::RunOrder> order_of(const RunOptions& options) {
  observe::RunOrder order;
  const int gpus = observe::gpu_count();
  const int usable = static_cast<int>(os::usable_cpus().size());
  order.plan.argv = options.argv;
  order.plan.workdir = std::filesystem::current_path().string();
  order.plan.accelerators = gpus > 0 ? gpus : usable;
  order.family = family_of(options.argv);
  if (!options.spec_file.empty()) {
    const std::string path = os::absolute(options.spec_file);
    const std::string text = TRY(os::read_file(path));
    const model::Spec spec = TRY(model::parse_spec(
        text, options.spec_file, std::filesystem::path(path).parent_path().string()));
    order.plan = TRY(make_plan(spec, {}));
    order.family = spec.family;
    order.time_limit = spec.time_limit;
    order.memory_limit_mb = spec.memory_limit_mb;
    order.work_pattern = spec.work_pattern;
    order.fixed_work = spec.fixed_work;
  }
  if (!options.family.empty()) order.family = options.family;
  if (options.accelerators > 0) order.plan.accelerators = options.accelerators;
  if (options.time_limit_s > 0) order.time_limit = from_seconds(options.time_limit_s);
  if (options.memory_limit_mb > 0) order.memory_limit_mb = options.memory_limit_mb;
  return order;
}

}  // namespace

std::string family_of(const std::vector<std::string>& argv) {
  std::string family = "job";
  for (const std::string& word : argv) {
    // A flag, or a script given as text.
    if (word.starts_with('-') || word.find_first_of(" \t\n") != word.npos) continue;
    const std::string name = std::filesystem::path(word).stem().string();
    if (name.empty()) continue;
    family = name;
    if (!is_interpreter(std::filesystem::path(word).filename().string())) break;
  }
  family = lower(family);
  for (char& c : family) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
    if (!fine) c = '-';
  }
  return family.front() == '-' || family.front() == '.' ? "job" + family : family;
}

Result<RunOutcome> run_job(const Config& config, const RunOptions& options) {
  if (options.argv.empty() && options.spec_file.empty()) {
    return bad_input("nothing to run; type: amdahl run -- CMD");
  }
  RunOutcome outcome;
  os::Clock& clock = os::real_clock();
  outcome.job = new_job_id(clock);
  observe::RunOrder order = TRY(order_of(options));
  order.id = outcome.job;
  order.out_dir = fmt::format("{}/jobs/{}", config.state_dir, outcome.job);
  order.state_dir = fmt::format("{}/jobs-state/{}", config.state_dir, order.family);
  order.pass_output = !options.quiet;
  TRY(os::make_dirs(order.out_dir));
  TRY(os::make_dirs(config.state_dir + "/usage"));
  outcome.receipt = TRY(observe::supervise(order, clock));

  outcome.receipt_file = order.out_dir + "/receipt.json";
  outcome.usage_file = fmt::format("{}/usage/{}.json", config.state_dir, outcome.job);
  TRY(os::write_file(outcome.receipt_file, dump_json(encode(outcome.receipt))));
  const model::Usage usage = usage_of(outcome.receipt, os::user_name(), order.plan.workdir);
  TRY(os::write_file(outcome.usage_file, dump_json(encode(usage))));
  return outcome;
}

}  // namespace amdahl::app
