#include "profile/classify.h"

#include <chrono>
#include <cmath>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "profile/causes.h"
#include "profile/ceiling.h"
#include "profile/device_facts.h"
#include "profile/gpus.h"
#include "profile/offcpu.h"
#include "profile/phases.h"
#include "profile/testing.h"
#include "profile/trace_report.h"
#include "profile/trace_testing.h"
#include "profile/waits_testing.h"
#include "source_dir.h"

namespace amdahl::profile {
namespace {

using model::Bottleneck;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Classify, PhasesMakeTheClass) {
  const struct {
    const char* phase;
    Bottleneck want;
    const char* cause;
  } cases[] = {
      {"startup", Bottleneck::kLifecycle, "lifecycle.startup"},
      {"import", Bottleneck::kLifecycle, "lifecycle.imports"},
      {"jit", Bottleneck::kLifecycle, "lifecycle.warmup"},
      {"checkpoint", Bottleneck::kLifecycle, "lifecycle.checkpoint"},
      {"teardown", Bottleneck::kLifecycle, "lifecycle.teardown"},
      {"wait_input", Bottleneck::kInput, "input.wait"},
      {"h2d", Bottleneck::kInput, "input.copies_to_device"},
      {"range_check", Bottleneck::kSync, "sync.calls"},
      {"log", Bottleneck::kSync, "sync.logging"},
      {"allreduce", Bottleneck::kCommunication, "communication.collectives"},
      {"tokenize", Bottleneck::kSerial, "serial.host"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.phase);
    model::Receipt receipt = run(1, 1);
    report(receipt, {{c.phase, 4000}, {"compute", 6000}});
    const model::Profile profile = classify({}, receipt, {});
    expect_sane(profile);
    EXPECT_EQ(profile.bottleneck, c.want) << profile.rule;
    ASSERT_EQ(profile.causes.size(), 1U);
    EXPECT_EQ(profile.causes[0].id, c.cause);
    EXPECT_NEAR(profile.causes[0].share, 0.4, 1e-9);
    EXPECT_NEAR(profile.causes[0].accelerator_seconds, 4, 1e-9);
    EXPECT_NEAR(profile.causes[0].ceiling, 1 / 0.6, 1e-9);
    EXPECT_NEAR(profile.evidence.at("compute_share"), 0.6, 1e-9);
    EXPECT_NEAR(profile.evidence.at("phase.compute.share"), 0.6, 1e-9);
  }
}

TEST(Classify, TheLargestCauseWinsAndTheRuleHasItsNumbers) {
  model::Receipt receipt = run(1, 1);
  report(receipt, {{"startup", 2000}, {"decode", 2500}, {"compute", 4500}, {"save", 1000}});
  const model::Profile profile = classify({}, receipt, {});
  expect_sane(profile);
  EXPECT_EQ(profile.bottleneck, Bottleneck::kLifecycle);
  EXPECT_EQ(profile.rule,
            "largest cause: start-up, checkpoints 30 %, speed-up at most 1.43x (startup_share 20 "
            "%, checkpoint_share 10 % from the job's phases: 3.00 of 10.0 accelerator-seconds)");
  EXPECT_EQ(profile.family, "eval");
  EXPECT_EQ(profile.baseline, "0123456789abcdef");
}

TEST(Classify, ATunedJobComputes) {
  model::Receipt receipt = run(2, 0.97F);
  report(receipt, {{"startup", 200}, {"compute", 9700}, {"teardown", 100}});
  const model::Profile profile = classify({}, receipt, {});
  expect_sane(profile);
  EXPECT_EQ(profile.bottleneck, Bottleneck::kCompute);
  EXPECT_EQ(profile.rule, "productive_share is 97 % (at least 85 %) and no cause reaches 5.0 %");
}

TEST(Classify, AcceleratorsThatAreNeverUsedAreOverAllocated) {
  // Four, of which about one and a half are busy.
  model::Receipt receipt = run(4, 0);
  receipt.utilisation.accelerators[0].assign(10, 1);
  receipt.utilisation.accelerators[1].assign(10, 0.5F);
  const model::Profile profile = classify({}, receipt, {});
  expect_sane(profile);
  EXPECT_EQ(profile.bottleneck, Bottleneck::kAllocation) << profile.rule;
  EXPECT_DOUBLE_EQ(profile.evidence.at("busy_accelerators"), 1.5);
  EXPECT_DOUBLE_EQ(profile.evidence.at("allocation_share"), 0.5);
  EXPECT_EQ(profile.causes[0].because,
            "1.50 of 4 busy on average, 1.50 at the 95th percentile: 2 not needed: 20.0 of 40.0 "
            "accelerator-seconds");

  // One thread that moves between two slots needs one of them, although it is always busy.
  model::Receipt single = run(2, 0.5F);
  const model::Profile one = classify({}, single, {});
  EXPECT_EQ(one.bottleneck, Bottleneck::kAllocation) << one.rule;
  EXPECT_DOUBLE_EQ(one.evidence.at("allocation_share"), 0.5);

  EXPECT_EQ(cause_of(classify({}, run(2, 0.9F), {}), Bottleneck::kAllocation), nullptr);
  EXPECT_EQ(cause_of(classify({}, run(1, 0), {}), Bottleneck::kAllocation), nullptr);
}

TEST(Classify, ManyWakeupsOnQuietCpusAreACause) {
  model::Receipt receipt = run(2, 0.2F);
  receipt.accelerator_kind = "device";
  receipt.voluntary_switches = 500'000;
  const model::Profile profile = classify({}, receipt, {});
  expect_sane(profile);
  const model::Cause* wakeups = cause_of(profile, Bottleneck::kWakeups);
  ASSERT_NE(wakeups, nullptr);
  EXPECT_NEAR(wakeups->share, 0.4, 1e-9);

  receipt.cpu_user = seconds(19);
  EXPECT_EQ(cause_of(classify({}, receipt, {}), Bottleneck::kWakeups), nullptr);
}

TEST(Classify, ABusyHostBesideWaitingDevicesIsSerial) {
  model::Receipt receipt = run(1, 0.4F);
  receipt.accelerator_kind = "gpu";
  receipt.cpu_user = seconds(10);
  report(receipt, {{"compute", 10'000}});
  const model::Profile profile = classify({}, receipt, {});
  expect_sane(profile);
  EXPECT_EQ(profile.bottleneck, Bottleneck::kSerial) << profile.rule;
  EXPECT_NEAR(profile.causes[0].share, 0.6, 1e-6);
}

TEST(Classify, WasteInsideAPhaseIsChargedToItOnce) {
  // Idle during the start-up: explained by it, and nothing is left over.
  model::Receipt receipt = run(1, 1);
  receipt.utilisation.accelerators[0] = {0, 0, 0, 1, 1, 1, 1, 1, 1, 1};
  report(receipt, {{"startup", 3000}, {"compute", 7000}});
  const model::Profile profile = classify({}, receipt, {});
  EXPECT_NEAR(profile.evidence.at("waste_in_compute_share"), 0, 1e-9);
  ASSERT_EQ(profile.causes.size(), 1U);
  EXPECT_NEAR(profile.causes[0].share, 0.3, 1e-9);
}

TEST(Classify, CannotTellIsAResult) {
  model::Receipt dark = run(1, 1);
  dark.utilisation.accelerators.clear();
  const model::Profile nothing = classify({}, dark, {});
  expect_sane(nothing);
  EXPECT_EQ(nothing.bottleneck, Bottleneck::kUnknown);
  EXPECT_EQ(nothing.rule,
            "unknown: no cause reaches 5.0 %, but neither utilisation nor phases were observed");
  EXPECT_EQ(nothing.missing, (std::vector<std::string>{
                                 "utilisation: the accelerators were not sampled",
                                 "phases: the job reported none through AMDAHL_REPORT",
                                 "hook: no report, so steps, loader and operators are unknown: not "
                                 "a PyTorch job, or its Python does not read PYTHONPATH"}));

  const model::Profile idle = classify({}, run(1, 0.3F), {});
  EXPECT_EQ(idle.bottleneck, Bottleneck::kUnknown);
  EXPECT_EQ(idle.rule,
            "unknown: the largest cause is waiting that nothing explains 70 %, speed-up at most "
            "3.33x; let the job report its phases");

  model::Receipt nowhere = run(1, 1);
  nowhere.wall = {};
  expect_sane(classify({}, nowhere, {}));
  EXPECT_EQ(classify({}, nowhere, {}).bottleneck, Bottleneck::kUnknown);
}

TEST(Classify, AJobThatAskedForNothingIsJudgedByWhatItUsed) {
  model::Receipt receipt = run(2, 1);
  receipt.utilisation.accelerators[1].assign(10, 0);
  receipt.cpu_user /= 2;
  receipt.cpu_system /= 2;
  model::Spec spec;
  spec.accelerators = 2;
  EXPECT_EQ(classify(spec, receipt, {}).bottleneck, Bottleneck::kAllocation);
  spec.accelerators = 0;
  const model::Profile profile = classify(spec, receipt, {});
  EXPECT_EQ(profile.bottleneck, Bottleneck::kCompute) << profile.rule;
  EXPECT_TRUE(profile.causes.empty()) << profile.causes.front().name;
}

TEST(Classify, PythonThatLoadsNothingOfOursIsNamed) {
  const struct {
    std::vector<std::string> command;
    const char* option;
  } cases[] = {
      {{"/usr/bin/python3", "-I", "train.py"}, "-I"},
      {{"env", "A=1", "python", "-B", "-SE", "-c", "pass"}, "-SE"},
      {{"python3", "-X", "importtime", "-E", "train.py"}, "-E"},
      {{"python3", "train.py", "-I"}, ""},
      {{"python3", "-m", "train", "-S"}, ""},
      {{"python3", "-W", "Ignore", "-WEverything", "train.py"}, ""},
      {{"./train", "-I"}, ""},
      {{"python3"}, ""},
  };
  for (const auto& c : cases) {
    model::Spec spec;
    spec.command = c.command;
    const std::string said = classify(spec, run(1, 1), {}).missing.back();
    const std::string want = std::string(c.option).empty()
                                 ? "not a PyTorch job, or its Python does not read PYTHONPATH"
                                 : fmt::format("Python ignores the hook with {};", c.option);
    EXPECT_NE(said.find(want), std::string::npos) << fmt::format("{}", fmt::join(c.command, " "));
  }
}

TEST(Classify, AFailedRunSaysSo) {
  model::Receipt receipt = run(1, 1);
  receipt.code = 3;
  EXPECT_EQ(classify({}, receipt, {}).missing.at(0),
            "success: the run failed (exit 3); all figures are for a failed run");
  receipt.ending = model::Ending::kCancelled;
  receipt.reason = "cancelled by SIGTERM";
  EXPECT_EQ(classify({}, receipt, {}).missing.front(),
            "the rest: the run was cut short (cancelled by SIGTERM); all figures are for the part "
            "before that");
}

Facts hook(std::string_view json) {
  const auto facts = read_hook(json);
  EXPECT_TRUE(facts) << facts.error().text;
  return facts ? *facts : Facts{};
}

constexpr std::string_view kHook = R"({"schema": 1, "torch": "1.13.0a0", "wall_s": 10,
    "startup_s": 2, "import_s": 1.5, "steps": 40, "step_s": [0.15, 0.14, 0.3],
    "loader_wait_s": 3, "loader": {"batch_size": 8, "num_workers": 0, "prefetch_factor": null,
    "pin_memory": false, "persistent_workers": false, "dataset_len": 320, "passes": 1},
    "torch_threads": 1, "grad_enabled_share": 1, "inference_mode_share": 0, "save_s": 0.5,
    "save_calls": 4, "fsync_s": 1, "fsync_calls": 40, "gc_s": 0.1, "teardown_s": 0.2,
    "backward_calls": 40, "memmap_s": 0.2, "memmap_calls": 40, "reread_s": 0.1, "reread_calls": 9,
    "arrays_s": 0.1, "parse_s": 0.2, "parse_calls": 2, "rescalar_s": 0.1, "rescalar_calls": 80,
    "boards_s": 0.2, "boards_calls": 40, "bound_cpus": 1, "arrays_calls": 20, "eval_grad_s": 0.2,
    "anomaly_calls": 1, "uncompiled_modules": 7, "first_batch_s": 0.05, "warmup_s": 0.1,
    "overhead_s": 0.05, "lines_cpu_s": 0.02, "lines": [
      {"file": "/j/e.py", "line": 3, "function": "load", "phase": "startup", "seconds": 0.5},
      {"file": "/j/e.py", "line": 9, "function": "main", "phase": "step", "seconds": 2.5}],
    "window": {"steps": 10, "wall_s": 1.5, "op_calls": 2000, "scalar_syncs": 20, "ops": [
      {"name": "aten::addmm", "calls": 200, "self_cpu_s": 0.6},
      {"name": "aten::mkldnn_convolution", "calls": 10, "self_cpu_s": 0.1},
      {"name": "aten::copy_", "calls": 10, "self_cpu_s": 0.1},
      {"name": "aten::gelu", "calls": 100, "self_cpu_s": 0.2}]}})";

TEST(Hook, SpeaksWhereThePhasesAreSilent) {
  const model::Profile profile = classify({}, run(1, 1), {hook(kHook)});
  expect_sane(profile);
  const struct {
    const char* name;
    double want;
  } cases[] = {
      {"hook.startup_share", 0.2}, {"startup_share", 0.2},     {"import_share", 0.15},
      {"input_wait_share", 0.3},   {"checkpoint_share", 0.06}, {"logging_share", 0.09},
      {"teardown_share", 0.02},    {"serial_share", 0.01},     {"compute_share", 0.32},
      {"hook.step_ms", 150},       {"hook.step_p95_ms", 300},  {"hook.batch_size", 8},
      {"hook.loader_workers", 0},  {"hook.pin_memory", 0},     {"hook.scalar_syncs_per_step", 2},
      {"hook.ops_per_step", 200},  {"hook.mean_op_us", 500},   {"hook.gemm_share", 0.6},
      {"hook.conv_share", 0.1},    {"hook.copy_share", 0.1},   {"hook.python_share", 1.0 / 3},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    ASSERT_TRUE(profile.evidence.contains(c.name));
    EXPECT_NEAR(profile.evidence.at(c.name), c.want, 1e-9);
  }
  EXPECT_FALSE(profile.evidence.contains("hook.prefetch_factor")) << "null is not known";
  EXPECT_EQ(profile.bottleneck, Bottleneck::kInput) << profile.rule;
  // Imports are a part of the hook's start-up: 0.2 + 0.06 + 0.02.
  const model::Cause* lifecycle = cause_of(profile, Bottleneck::kLifecycle);
  ASSERT_NE(lifecycle, nullptr);
  EXPECT_NEAR(lifecycle->share, 0.28, 1e-9);
}

TEST(Hook, KnowsTheDearestLines) {
  const auto facts = read_hook(kHook);
  ASSERT_TRUE(facts) << facts.error().text;
  ASSERT_EQ(facts->lines.size(), 2U);
  EXPECT_EQ(facts->lines[0], (LineCost{"/j/e.py", 9, "main", true, 2.5}));
  EXPECT_EQ(facts->lines[1], (LineCost{"/j/e.py", 3, "load", false, 0.5}));
}

TEST(Hook, PhasesWinWhereBothSpeak) {
  model::Receipt receipt = run(1, 1);
  report(receipt, {{"startup", 1000}, {"compute", 9000}});
  const model::Profile profile = classify({}, receipt, {hook(kHook)});
  EXPECT_NEAR(profile.evidence.at("startup_share"), 0.1, 1e-9);
  EXPECT_NEAR(profile.evidence.at("hook.startup_share"), 0.2, 1e-9);
  EXPECT_NEAR(cause_of(profile, Bottleneck::kLifecycle)->share, 0.1, 1e-9);
  EXPECT_NEAR(cause_of(profile, Bottleneck::kInput)->share, 0.3, 1e-9) << "no input phase";
}

TEST(Hook, AProcessThatIsPartOfTheJobCountsForItsPart) {
  model::Receipt receipt = run(1, 1);
  receipt.wall = seconds(20);
  const model::Profile profile = classify({}, receipt, {hook(kHook)});
  EXPECT_NEAR(profile.evidence.at("input_wait_share"), 0.15, 1e-9);
}

TEST(Hook, ReadsAnEmptyDocument) {
  const Facts facts = hook("{}");
  EXPECT_TRUE(facts.evidence.empty());
  EXPECT_EQ(facts.missing, (std::vector<std::string>{
                               "hook: no wall_s (was the job killed?), so its shares are unknown",
                               "hook: no window of steps was profiled, so operators are unknown"}));
}

// Torch reports a negative own time for an operator that overlaps its children.
TEST(Hook, AnOperatorThatTookLessThanNothingTookNothing) {
  const Facts facts = hook(
      R"({"wall_s": 9, "window": {"steps": 1, "wall_s": 1, "op_calls": 2, "ops": [
          {"name": "aten::mm", "self_cpu_s": 0.5}, {"name": "a::b", "self_cpu_s": -0.001}]}})");
  EXPECT_NEAR(facts.evidence.at("hook.python_share"), 0.5, 1e-9);
}

TEST(Hook, SaysWhyThereIsNoWindow) {
  const auto last = [](const char* json) { return hook(json).missing.back(); };
  EXPECT_EQ(last(R"({"wall_s": 1, "torch": null, "steps": 0})"),
            "hook: the job did not import torch, so steps, loader and operators are unknown");
  EXPECT_EQ(
      last(R"({"wall_s": 1, "torch": "2.0", "steps": 0})"),
      "hook: no steps were seen (no DataLoader batch, no module call), so operators are unknown");
  EXPECT_EQ(
      last(R"({"wall_s": 1, "torch": "2.0", "steps": 9, "ended": false})"),
      "hook: the job was killed; figures are from the last update before that, without operators");
}

TEST(Hook, SaysWhereADocumentIsWrong) {
  const struct {
    const char* json;
    const char* want;
  } cases[] = {
      {"[]", "/: must be an object, but is array"},
      {R"({"schema": 2})",
       "/schema: 2 is not supported (this program reads 1): profile the job again"},
      {R"({"wall_s": "ten"})", "/wall_s: must be a number, but is string"},
      {R"({"wall_s": -1})", "/wall_s: must not be negative, but is -1"},
      {R"({"wall_s": 1, "gc_s": []})", "/gc_s: must be a number, but is array"},
      {R"({"step_s": [-1]})", "/step_s/0: must not be negative, but is -1"},
      {R"({"grad_enabled_share": 9})", "/grad_enabled_share: must be at most 1, but is 9"},
      {R"({"loader": 3})", "/loader: must be an object, but is number"},
      {R"({"loader": {"batch_size": "8"}})", "/loader/batch_size: must be a number, but is string"},
      {R"({"step_s": 3})", "/step_s: must be a list of mean, p50 and p95, but is number"},
      {R"({"step_s": [1, "x"]})", "/step_s/1: must be a number, but is string"},
      {R"({"window": []})", "/window: must be an object, but is array"},
      {R"({"window": {"ops": {}}})", "/window/ops: must be a list, but is object"},
      {R"({"window": {"ops": [1]}})", "/window/ops/0: must be an object, but is number"},
      {R"({"window": {"ops": [{}]}})", "/window/ops/0/name: is missing"},
      {R"({"window": {"ops": [{"name": 1}]}})",
       "/window/ops/0/name: must be a string, but is number"},
      {R"({"window": {"ops": [{"name": "a", "self_cpu_s": "b"}]}})",
       "/window/ops/0/self_cpu_s: must be a number, but is string"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.json);
    const auto got = read_hook(c.json);
    EXPECT_EQ(got ? "no error" : got.error().text, c.want);
  }
}

// Every prefix, and the document with each byte damaged, is read or refused with a place.
TEST(Hook, DamageIsRefusedWithItsPlace) {
  const std::string whole(kHook);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const auto cut = read_hook(std::string_view(whole).substr(0, i));
    ASSERT_FALSE(cut);
    ASSERT_TRUE(cut.error().text.starts_with("byte ")) << cut.error().text;
    for (const char damage : {'\0', '"', '9', '-', '}', 'e', '\xff'}) {
      std::string damaged = whole;
      damaged[i] = damage;
      const auto got = read_hook(damaged);
      if (got) {
        expect_sane(classify({}, run(1, 0.5F), {*got}));
        continue;
      }
      const std::string& text = got.error().text;
      ASSERT_TRUE(text.starts_with("byte ") || text.starts_with("/")) << text;
    }
  }
}

TEST(Knobs, AreEvidence) {
  model::Spec spec;
  const auto knob = [&](const char* name, const char* value) -> model::Knob& {
    model::Knob& made = spec.knobs[name];
    made.name = name;
    made.value = value;
    return made;
  };
  knob("batch_size", "8");
  knob("threads", "").min = 1;
  knob("cache", "");
  knob("inference_mode", "on");
  knob("pin", "False");
  knob("wait_policy", "Active").off = "active";
  knob("verify", "").arg = "--verify";
  spec.command = {"job", "--verify"};
  const auto evidence = classify(spec, run(1, 1), {}).evidence;
  EXPECT_EQ(evidence.at("knob.batch_size"), 8);
  EXPECT_EQ(evidence.at("knob.verify"), 1) << "a bare flag is on";
  EXPECT_TRUE(std::isnan(evidence.at("knob.threads")));
  EXPECT_EQ(evidence.at("knob.cache"), 0);
  EXPECT_EQ(evidence.at("knob.inference_mode"), 1);
  EXPECT_EQ(evidence.at("knob.pin"), 0);
  EXPECT_EQ(evidence.at("knob.wait_policy"), 0);

  model::Change baseline;
  baseline.args["--verify"] = std::nullopt;
  EXPECT_EQ(classify(spec, run(1, 1), {}, baseline).evidence.at("knob.verify"), 0);
}

std::set<std::string> documented() {
  std::ifstream file(AMDAHL_SOURCE_DIR "/docs/format/evidence.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  const std::regex row("\n\\| `([^`]+)` \\|");
  std::set<std::string> names;
  for (std::sregex_iterator i(page.begin(), page.end(), row), end; i != end; ++i) {
    names.insert((*i)[1].str());
  }
  return names;
}

// "waits.step.futex_share" stands in the row of all roles and reasons.
std::string waits_row(std::string name) {
  for (const char* role : {"step", "pool", "loader"}) {
    const std::string start = fmt::format("waits.{}.", role);
    if (name.starts_with(start)) name = "waits.<role>." + name.substr(start.size());
  }
  for (const std::string_view reason : model::kWaitNames) {
    if (name == fmt::format("waits.<role>.{}_share", reason)) return "waits.<role>.<reason>_share";
  }
  return name;
}

// Runs that between them show everything there is to show.
std::set<std::string> emitted() {
  model::Spec spec;
  spec.knobs["batch_size"] = {};
  model::Receipt everything = run(4, 0);
  std::vector<std::pair<const char*, int>> phases;
  for (const Kind& kind : kinds()) phases.emplace_back(kind.words.front().data(), 500);
  report(everything, phases);
  everything.noise.steal_share = 0.1;
  everything.cgroup.quota_cores = 2;
  everything.cgroup.memory_limit_bytes = 1'000'000'000;
  everything.voluntary_switches = everything.read_calls = everything.write_calls = 1'000'000;
  std::string with_prefetch(kHook);
  with_prefetch.replace(with_prefetch.find("null"), 4, "2");
  with_prefetch.insert(with_prefetch.find('{') + 1,
                       "\"exit_s\": 0.5, \"exit_cpu_s\": 0.4, \"installed_import_s\": 1,");
  model::Receipt crowded = run(2, 1);
  crowded.peak_threads = 8;
  crowded.run_delay = seconds(60);
  GpuUse gpu;
  gpu.looks = 1;
  gpu.memory_total_bytes = gpu.memory_peak_bytes = 1;
  gpu.power_w = 1;
  model::BpfSummary ranks = sample_waits();
  ranks.sites.front().python = {{"/x/torch/distributed/distributed_c10d.py", 1, "barrier"}};
  std::set<std::string> names{kNeedlessImports};  // By findings.
  for (const model::Profile& profile :
       {classify(spec, everything, {hook(with_prefetch)}),
        classify({}, run(1, 0.3F), {hook(kHook)}),
        classify({}, run(1, 0.3F), {facts_of(ranks, 11)}),
        classify({}, run(1, 0.3F), {facts_of(std::vector{gpu})}), classify({}, crowded, {})}) {
    for (const auto& [name, value] : profile.evidence) {
      names.insert(name.starts_with("phase.")   ? "phase.<name>.share"
                   : name.starts_with("knob.")  ? "knob.<name>"
                   : name.starts_with("waits.") ? waits_row(name)
                                                : name);
    }
  }
  MadeTrace made;
  made.builder().trace().sources.front().format = "nsys";
  made.annotation("ProfilerStep#1", 0, 100);
  made.annotation("CompiledFunction", 0, 50);
  made.kernel(10, 20, made.call("clEnqueueNDRangeKernel", 0, 5));
  const model::Trace trace = made.finish();
  model::Trace stages;
  stages.operations.push_back(
      {.duration = seconds(1), .name = stages.names.intern("forward-compute")});
  for (const auto* one : std::initializer_list<const model::Trace*>{&trace, &stages}) {
    const TraceReport told = report(Prepared(*one));
    for (const auto& [name, value] : told.profile.evidence) names.insert(name);
    const Facts facts = facts_of(told, std::chrono::microseconds(100));
    for (const auto& [name, value] : facts.evidence) names.insert(name);
  }
  return names;
}

TEST(Evidence, IsWhatThePageSays) { EXPECT_EQ(emitted(), documented()); }

}  // namespace
}  // namespace amdahl::profile
