#include "run_arm.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>

#include "base/json.h"
#include "model/flags.h"
#include "model/plan.h"
#include "observe/inputs.h"
#include "observe/report.h"
#include "os/files.h"

namespace amdahl::adversary {
namespace {

constexpr int kPairsPerInput = 3;

// The host's slow wander: the same for whatever runs at that time.
double drift_at(const Scenario& scenario, Nanos time) {
  const double hours = to_seconds(time) / 3600;
  const double phase = static_cast<double>(scenario.seed % 628) / 100;
  return scenario.job.drift * (std::sin(hours * 1.7 + phase) + std::sin(hours * 0.43 + 2 * phase));
}

double slowed_by(const Scenario& scenario, const Around& around, sim::Stream& luck) {
  const Job& job = scenario.job;
  double ln = luck.normal(0, job.noise) + drift_at(scenario, around.at) + around.contended;
  if (luck.chance(job.outliers)) ln += 0.05 + luck.exponential(0.15);
  if (around.second) ln += job.second;
  return ln;
}

Act honest_act(const Scenario& scenario, const Around& around, int input, sim::Stream& luck) {
  const Job& job = scenario.job;
  Act act;
  act.wall_s = job.run_s * std::exp(slowed_by(scenario, around, luck));
  act.cpu_s = act.wall_s * job.cpu_per_s;
  act.items = job.items;
  act.output = right_output(input, job.items);
  if (!job.exact) {
    act.metrics["accuracy"] = 0.9 + luck.normal(0, 0.0015);
    act.output = fmt::format("{}{}\n", *act.output, luck.hex(8));
  }
  if (luck.chance(job.failures / around.steps)) act.code = 1;
  return act;
}

// The job's own metric is what it saw of itself, before it was flattered.
void tell_speed(const Job& job, Act& act) {
  if (!job.timed) return;
  act.metrics["seconds"] = act.wall_s;
  act.metrics["items_per_s"] = job.items / act.wall_s;
}

// By a variable, or by the flag that the first change of some jobs turns.
bool is_on(const model::Plan& plan, std::size_t number) {
  if (number == 0 && model::value_in(plan.argv, {{"--batch", "-b"}}) == kTurned) return true;
  const auto it = plan.env.find(fmt::format("V{}", number));
  return it != plan.env.end() && it->second == "on";
}

// What the caches that another run emptied cost this one.
void suffer(const Scenario& scenario, World& world, const model::Plan& plan, Act& act) {
  for (std::size_t i = 0; i < scenario.variants.size(); ++i) {
    Memory& memory = world.memory[i];
    if (memory.poison == 0 || is_on(plan, i)) continue;
    memory.poison = 0;
    act.wall_s *= std::exp(memory.poisoned);
    act.cpu_s *= std::exp(memory.poisoned);
  }
}

// One process that is both arms in turn. Whatever a step of the variant spoils, is spoilt.
Act steps_act(const Scenario& scenario, World& world, const ArmRun& run, sim::Stream& luck) {
  const std::string& schedule = run.request.schedule;
  const auto steps = static_cast<double>(schedule.size());
  Around step = run.around;
  step.steps = steps;
  step.second = false;  // One process: no step has a slot of its own.
  Act whole = act_of(scenario, world, run.request.a, step, luck);
  double seconds = 0.05 * whole.wall_s;  // To start.
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const bool is_b = schedule[i] == 'B';
    step.after_other = step.warm = is_b && i > 0 && schedule[i - 1] == 'A';
    const Act act = act_of(scenario, world, is_b ? run.request.b : run.request.a, step, luck);
    const double took = std::min(act.wall_s, 1e8) / steps;
    seconds += took;
    whole.report +=
        fmt::format("{{\"step\": {}, \"arm\": \"{}\", \"seconds\": {:.9g}, \"work\": {:g}}}\n", i,
                    schedule[i], took, act.items.value_or(0) / steps);
    if (!is_b) continue;
    whole.output = act.output;
    whole.metrics = act.metrics;
    whole.left_behind = act.left_behind;
    whole.kills_worker |= act.kills_worker;
    whole.old_output |= act.old_output;
    if (act.code != 0) {
      whole.code = act.code;
      whole.ending = act.ending;
    }
  }
  whole.wall_s = seconds;
  whole.cpu_s = seconds * scenario.job.cpu_per_s;
  return whole;
}

Result<> date_file(const std::string& path, Nanos unix_time) {
  const std::int64_t second = 1'000'000'000;
  const timespec at{unix_time.count() / second, unix_time.count() % second};
  const timespec times[] = {at, at};
  if (::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0) return Ok{};
  return external("cannot date " + path);
}

Result<> leave_files(const Scenario& scenario, const ArmRun& run, const Act& act,
                     const model::Receipt& receipt, sim::Stream& luck) {
  TRY(os::make_dirs(run.out_dir));
  const std::string scratch = scenario.spec.workdir + "/scratch";
  TRY(os::make_dirs(scratch));
  TRY(os::write_file(scratch + "/last", luck.hex(16)));
  TRY(os::write_file(run.out_dir + "/stdout", stdout_text(scenario, act, luck)));
  if (!model::succeeded(receipt)) return Ok{};
  TRY(os::write_file(run.out_dir + "/report.jsonl", report_text(scenario, act)));
  if (!act.output) return Ok{};
  const std::string path = run.out_dir + "/result";
  TRY(os::write_file(path, *act.output));
  const Nanos hour = std::chrono::hours(1);
  return date_file(path, act.old_output ? run.started - hour : run.started + receipt.wall);
}

model::Receipt blank(const ArmRun& run) {
  model::Receipt receipt;
  receipt.id = run.request.reservation + "/" + run.arm.name;
  receipt.family = run.request.spec.family;
  receipt.arm = run.arm.label;
  receipt.plan_digest = model::digest(*run.arm.plan);
  receipt.argv = run.arm.plan->argv;
  receipt.host = run.host;
  receipt.boot_id = "virtual";
  receipt.hardware = "cpu: virtual";
  receipt.cpus = run.arm.cpus;
  receipt.accelerators = run.arm.plan->accelerators;
  receipt.accelerator_kind = "cpu slot";
  receipt.started = run.started;
  receipt.started_monotonic = run.around.at;
  return receipt;
}

void end_of(const ArmRun& run, const Act& act, model::Receipt& receipt) {
  receipt.ending = act.ending;
  receipt.code = act.code;
  receipt.wall = from_seconds(std::min(act.wall_s, 1e8));
  receipt.cpu_user = from_seconds(std::min(act.cpu_s, 1e8));
  receipt.left_behind = act.left_behind;
  const Nanos limit = run.too_dear_after.value_or(run.request.spec.time_limit);
  if (receipt.wall <= limit) return;
  receipt.ending = model::Ending::kTimeLimit;
  receipt.code = SIGKILL;
  receipt.wall = limit;
  receipt.cpu_user = std::min<Nanos>(receipt.cpu_user, limit);
  if (run.too_dear_after) launch::local::say_too_dear(receipt);
}

// By the code that reads what real jobs leave.
void read_files(const ArmRun& run, model::Receipt& receipt) {
  const model::Spec& spec = run.request.spec;
  const auto text = os::read_file(run.out_dir + "/report.jsonl");
  const observe::Report report = observe::read_report(
      text ? *text : "", false, {receipt.started, receipt.wall, receipt.accelerators, {}});
  receipt.work = report.work;
  receipt.metrics = report.metrics;
  if (run.arm.label == "steps") receipt.steps = report.steps;
  receipt.report_problems = report.problems;
  const auto out = os::read_file(run.out_dir + "/stdout");
  if (!receipt.work && !spec.work_pattern.empty() && out) {
    receipt.work = observe::work_in_output(*out, spec.work_pattern, receipt.report_problems);
  }
  if (!receipt.work) receipt.work = spec.fixed_work;
  receipt.outputs = observe::digest_outputs(
      spec.outputs, {run.out_dir, spec.workdir, receipt.started}, receipt.report_problems);
}

}  // namespace

Act act_of(const Scenario& scenario, World& world, const model::Plan& plan, const Around& around,
           sim::Stream& luck) {
  const int input = input_now(world);
  Act act = honest_act(scenario, around, input, luck);
  suffer(scenario, world, plan, act);
  for (std::size_t i = 0; i < scenario.variants.size(); ++i) {
    if (!is_on(plan, i)) continue;
    act.wall_s *= std::exp(-scenario.variants[i].effect);
    act.cpu_s *= std::exp(-scenario.variants[i].effect);
  }
  const auto length = plan.env.find("LENGTH");
  const std::string stratum = length == plan.env.end() ? "" : length->second;
  if (stratum == "long") act.wall_s *= 1.8;
  tell_speed(scenario.job, act);
  for (std::size_t i = 0; i < scenario.variants.size(); ++i) {
    if (!is_on(plan, i)) continue;
    const Variant& variant = scenario.variants[i];
    const double before = act.wall_s;
    Scene scene{scenario.job, variant, luck, world.memory[i], around.after_other, around.warm,
                input,        stratum, act};
    for (const int row : variant.cheats) cheats()[static_cast<std::size_t>(row)].act(scene);
    // It sees its own time truly, but for what it flattered.
    const double faster = before / act.wall_s;
    if (act.metrics.contains("seconds")) act.metrics["seconds"] /= faster;
    if (act.metrics.contains("items_per_s")) act.metrics["items_per_s"] *= faster;
  }
  return act;
}

std::string report_text(const Scenario& scenario, const Act& act) {
  std::string text = act.report;
  if (scenario.job.tells == Job::Tells::kReport && act.items) {
    text += fmt::format("{{\"work\": {:g}}}\n", *act.items);
  }
  for (const auto& [name, value] : act.metrics) {
    text += fmt::format("{{\"metric\": {{\"{}\": {:.12g}}}}}\n", name, value);
  }
  return text;
}

std::string stdout_text(const Scenario& scenario, const Act& act, sim::Stream& luck) {
  std::string text = fmt::format("run {}\n", luck.hex(12));
  if (scenario.job.tells == Job::Tells::kOutput && act.items) {
    text += fmt::format("items: {:g}\n", *act.items);
  }
  return text;
}

int input_now(const World& world) { return static_cast<int>(world.executions / kPairsPerInput); }

Result<ArmEnd> run_arm(const Scenario& scenario, World& world, const ArmRun& run,
                       sim::Stream& luck) {
  const Act act = run.request.steps ? steps_act(scenario, world, run, luck)
                                    : act_of(scenario, world, *run.arm.plan, run.around, luck);
  model::Receipt receipt = blank(run);
  end_of(run, act, receipt);
  const observe::Fingerprint inputs =
      observe::fingerprint(run.request.spec.inputs, run.request.spec.workdir, "");
  receipt.input_fingerprint = inputs.sha256;
  receipt.input_bytes = inputs.bytes;
  TRY(leave_files(scenario, run, act, receipt, luck));
  read_files(run, receipt);
  receipt.noise.foreign_cpu_cores =
      0.04 + 0.02 * luck.uniform() + (run.around.contended > 0 ? 1 : 0);
  return ArmEnd{receipt, act.kills_worker, act.spoils_other};
}

}  // namespace amdahl::adversary
