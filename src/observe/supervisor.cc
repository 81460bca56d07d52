#include "observe/supervisor.h"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/redact.h"
#include "base/text.h"
#include "model/codec.h"
#include "observe/child.h"
#include "observe/earlier.h"
#include "observe/fixes.h"
#include "observe/inputs.h"
#include "observe/nvml.h"
#include "observe/run.h"
#include "os/files.h"
#include "os/host.h"
#include "os/left.h"

namespace amdahl::observe {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTail = 4096;
constexpr std::size_t kShortestSecret = 4;

// Files of an earlier run in the folder must not be taken for this one's.
Result<> clean(const RunOrder& order) {
  TRY(os::make_dirs(order.out_dir));
  if (!order.state_dir.empty()) TRY(os::make_dirs(order.state_dir));
  for (const char* name :
       {"/report.jsonl", "/hook.json", "/waits.jsonl", "/gpus.jsonl", "/stdout", "/stderr"}) {
    std::error_code ignored;
    fs::remove(order.out_dir + name, ignored);
  }
  std::error_code ignored;
  fs::remove_all(order.out_dir + "/fixes", ignored);
  if (!order.results_list.empty()) set_aside_earlier(order.results_list);
  return Ok{};
}

// Also removes secrets from the environment: the job may print them in any form. Of plain files
// only: a job may have left a pipe, which would block us, or a link to what it must not read
// itself.
std::string redacted_tail(const std::string& path, const std::vector<std::string>& secrets) {
  // Twice as much, so that a secret that the cut goes through is not seen as half of one.
  const auto text = os::is_plain(path) ? os::read_tail(path, 2 * kTail) : Result<std::string>("");
  if (!text) return "";
  std::string tail = *text;
  for (const std::string& secret : secrets) {
    if (secret.size() < kShortestSecret) continue;  // It would be found in every second word.
    for (std::size_t at = 0; (at = tail.find(secret, at)) != tail.npos; at += kRedacted.size()) {
      tail.replace(at, secret.size(), kRedacted);
    }
  }
  tail = redact(tail);
  if (tail.size() > kTail) tail.erase(0, tail.size() - kTail);
  return tail;
}

std::vector<std::string> redacted_argv(const std::vector<std::string>& argv) {
  return redact(Json(argv)).get<std::vector<std::string>>();
}

Report report_of(const RunOrder& order, const model::Receipt& receipt, const Watcher* watcher) {
  const std::string path = order.out_dir + "/report.jsonl";
  if (!os::is_plain(path)) return {};
  const auto text = os::read_head(path, kMaxReportBytes + 1);
  if (!text) {
    Report none;
    none.problems.push_back(text.error().text);
    return none;
  }
  const ReportContext context{receipt.started, receipt.wall, order.plan.accelerators,
                              watcher ? watcher->growth() : std::vector<Growth>{}};
  return read_report(std::string_view(*text).substr(0, kMaxReportBytes),
                     text->size() > kMaxReportBytes, context);
}

// A value that the job reports under the name of a pattern takes precedence over its output.
void take_quality(const RunOrder& order, model::Receipt& receipt) {
  const std::string path = order.out_dir + "/stdout";
  const bool wanted = std::ranges::any_of(
      order.quality, [](const model::Quality& quality) { return !quality.pattern.empty(); });
  if (!wanted || !os::is_plain(path)) return;
  const auto text = os::read_tail(path, kMaxReportBytes);
  if (!text) return;
  for (const model::Quality& quality : order.quality) {
    if (quality.pattern.empty() || receipt.metrics.contains(quality.name)) continue;
    const auto value = number_in_output(*text, quality.pattern, receipt.report_problems);
    if (value) receipt.metrics[quality.name] = *value;
  }
}

void take_report(const RunOrder& order, const Watcher* watcher, model::Receipt& receipt) {
  Report report = report_of(order, receipt, watcher);
  receipt.work = report.work;
  receipt.metrics = std::move(report.metrics);
  receipt.phases = std::move(report.phases);
  if (order.arm == "steps") receipt.steps = std::move(report.steps);
  receipt.report_problems = std::move(report.problems);
  if (!receipt.work && !order.work_pattern.empty() && os::is_plain(order.out_dir + "/stdout")) {
    if (const auto text = os::read_tail(order.out_dir + "/stdout", kMaxReportBytes)) {
      receipt.work = work_in_output(*text, order.work_pattern, receipt.report_problems);
    }
  }
  if (!receipt.work) receipt.work = order.fixed_work;
  take_quality(order, receipt);
  if (!watcher) return;
  receipt.utilisation = watcher->utilisation(receipt.wall, order.sample_every, report.busy);
  receipt.accelerator_kind = watcher->accelerator_kind(report.busy);
}

void add_problems(model::Receipt& receipt, const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) {
    if (receipt.report_problems.size() < kMaxProblems) receipt.report_problems.push_back(problem);
  }
}

// The earliest time of a file written by the run. If the wall clock was set back meanwhile, files
// may have times before its start.
Nanos oldest_output(const model::Receipt& receipt, os::Clock& clock) {
  const Nanos by_wall_clock = clock.unix_time() - receipt.started;
  const Nanos passed = clock.monotonic() - receipt.started_monotonic;
  return receipt.started + std::min(Nanos{0}, by_wall_clock - passed);
}

void note_results(const RunOrder& order, const std::vector<model::Output>& outputs,
                  const OutputPlace& place, std::vector<std::string>& problems) {
  if (order.results_list.empty()) return;
  const auto noted = list_results(results_elsewhere(outputs, place), order.results_list);
  if (!noted) problems.push_back(noted.error().text);
}

void take_files(const RunOrder& order, const OutputPlace& place, const Fingerprint& inputs,
                model::Receipt& receipt) {
  std::vector<std::string> problems = inputs.problems;
  std::vector<model::Output> outputs = order.outputs;
  for (model::Output& output : outputs) {
    const std::size_t at = output.path.find("{state}");
    if (at != output.path.npos) output.path.replace(at, 7, order.state_dir);
  }
  if (receipt.ending != model::Ending::kNotStarted) {
    receipt.outputs = digest_outputs(outputs, place, problems);
  } else {
    outputs.clear();  // What was set aside is put back all the same.
  }
  note_results(order, outputs, place, problems);
  receipt.input_fingerprint = inputs.sha256;
  receipt.input_bytes = inputs.bytes;
  add_problems(receipt, problems);
  const std::vector<std::string> secrets = secrets_of(order.plan);
  receipt.stdout_tail = redacted_tail(order.out_dir + "/stdout", secrets);
  receipt.stderr_tail = redacted_tail(order.out_dir + "/stderr", secrets);
  if (const std::string path = order.out_dir + "/stdout"; os::is_plain(path)) {
    if (const auto digest = os::sha256_of_file(path)) receipt.stdout_sha256 = *digest;
  }
}

}  // namespace

void take_limits(const model::Spec& spec, RunOrder& order) {
  order.time_limit = spec.time_limit;
  order.memory_limit_mb = spec.memory_limit_mb;
}

void take_work(const model::Spec& spec, RunOrder& order) {
  order.work_pattern = spec.work_pattern;
  order.fixed_work = spec.fixed_work;
  order.quality = spec.quality;
}

void take_spec(const model::Spec& spec, RunOrder& order) {
  take_limits(spec, order);
  take_work(spec, order);
  order.outputs = spec.outputs;
  order.inputs = spec.inputs;
}

Result<model::Receipt> supervise(const RunOrder& order_given, os::Clock& clock,
                                 const std::function<void(const Live&)>& watch) {
  RunOrder order = order_given;
  order.out_dir = os::absolute(order.out_dir);
  if (!order.state_dir.empty()) order.state_dir = os::absolute(order.state_dir);
  const std::string workdir = os::absolute(order.plan.workdir.empty() ? "." : order.plan.workdir);
  order.plan.workdir = workdir;
  TRY(clean(order));
  // Before the run, so that both arms of a pair find the same files in the page cache.
  const std::string cache = order.state_dir.empty() ? "" : order.state_dir + "/inputs.json";
  const Fingerprint inputs = fingerprint(order.inputs, workdir, cache);

  Run run(order, clock, watch);
  model::Receipt receipt = TRY(run.go());
  receipt.id = order.id;
  receipt.family = order.family;
  receipt.arm = order.arm;
  receipt.plan_digest = model::digest(order_given.plan);
  receipt.argv = redacted_argv(order.plan.argv);
  receipt.host = os::host_name();
  receipt.boot_id = os::boot_id();
  receipt.hardware = hardware();
  receipt.cpus = order.cpus;
  receipt.accelerators = order.plan.accelerators;
  take_report(order, run.watcher(), receipt);
  add_problems(receipt, run.problems());
  take_engagements(order, receipt);
  const std::string& results = order.own_workdir.empty() ? workdir : order.own_workdir;
  OutputPlace place{order.out_dir, results, oldest_output(receipt, clock), {}};
  if (order.jail) place.within = {order.out_dir, order.state_dir, results};
  take_files(order, place, inputs, receipt);
  model::seal(receipt);
  return receipt;
}

std::string hardware() {
  const Nvml nvml;
  if (nvml.count() > 0) return fmt::format("gpu: {} × {}", nvml.count(), nvml.name(0));
  return fmt::format("cpu: {} × {}", os::cpu_model(), ::sysconf(_SC_NPROCESSORS_ONLN));
}

int gpu_count(std::string* why_not) {
  const Nvml nvml;
  if (why_not) *why_not = nvml.why_not();
  return nvml.count();
}

}  // namespace amdahl::observe
