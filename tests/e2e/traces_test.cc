#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// A trace with four steps of 1 ms: 600 us of input, then a launch and 300 us of compute.
std::string small_trace() {
  Json events = Json::array();
  const auto add = [&](const char* category, const std::string& name, int start, int duration,
                       Json args) {
    events.push_back({{"ph", "X"},
                      {"cat", category},
                      {"name", name},
                      {"pid", category == std::string("kernel") ? 0 : 100},
                      {"tid", category == std::string("kernel") ? 7 : 100},
                      {"ts", start},
                      {"dur", duration},
                      {"args", std::move(args)}});
  };
  for (int step = 0; step < 4; ++step) {
    const int at = 1000 + step * 1000;
    add("user_annotation", "ProfilerStep#" + std::to_string(step), at, 1000, Json::object());
    add("python_function", "train.py(17): main", at + 1, 998, Json::object());
    add("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at + 2,
        600, Json::object());
    add("cpu_op", "aten::mm", at + 620, 40, Json::object());
    add("cuda_runtime", "cudaLaunchKernel", at + 630, 10, {{"correlation", step + 1}});
    add("kernel", "gemm </script><b>bold</b>", at + 650, 300,
        {{"correlation", step + 1}, {"device", 0}, {"stream", 7}});
  }
  return Json{{"schemaVersion", 1}, {"traceEvents", events}}.dump();
}

std::string program_in_path(const std::string& name) {
  std::string path = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
  for (std::size_t from = 0; from <= path.size();) {
    const std::size_t to = std::min(path.find(':', from), path.size());
    const fs::path file = fs::path(path.substr(from, to - from)) / name;
    if (fs::exists(file)) return file.string();
    from = to + 1;
  }
  return "";
}

TEST(Traces, ThePageSaysWhatToDo) {
  Sandbox sandbox;
  sandbox.write("trace.json", small_trace());
  const Outcome got =
      sandbox.amdahl({"profile", sandbox.path("trace.json"), "--what-if", "input=0"});
  ASSERT_EQ(got.code, 0) << got.err;
  for (const char* part : {"input", "train.py:17 (main)", "input=0"}) {
    EXPECT_NE(got.out.find(part), std::string::npos) << part << "\n" << got.out;
  }
  const Json json = json_of(sandbox.amdahl({"profile", sandbox.path("trace.json"), "--json"}));
  EXPECT_EQ(json.at("bottleneck"), "input");
  const Json causes = json.at("causes");
  for (const Json& cause : causes) {
    EXPECT_NE(cause.at("try"), "") << cause.dump();
  }
}

TEST(Traces, WrongWordsAreTold) {
  Sandbox sandbox;
  sandbox.write("trace.json", small_trace());
  sandbox.write("other.txt", "no trace at all\n");
  sandbox.write("report.nsys-rep", "NVIDIA Tegra Profiler Report 1.");
  sandbox.write("log/trace.json", small_trace());
  const struct {
    Words words;
    int code;
    std::string says;
  } cases[] = {
      {{"profile", sandbox.path("trace.json"), "--what-if", "inptu=0"},
       2,
       "--what-if: unknown cause 'inptu', did you mean 'input'? known: kernel, copy,"},
      {{"profile", sandbox.path("none.json")}, 1, "none.json: cannot be read: No such file"},
      {{"profile", sandbox.path("other.txt")}, 3, "has an unknown format (starts with "},
      {{"profile", sandbox.path("report.nsys-rep")},
       3,
       "is a report of Nsight Systems; run: nsys export --type sqlite FILE"},
      {{"profile", sandbox.path("log/")}, 1, "log/ is a folder; type: amdahl profile "},
      {{"profile"}, 2, "profile needs a family or files of a profiler"},
  };
  for (const auto& c : cases) {
    const Outcome got = sandbox.amdahl(c.words);
    EXPECT_EQ(got.code, c.code) << got.err;
    EXPECT_NE(got.err.find(c.says), std::string::npos) << got.err;
  }
}

TEST(Traces, ThePageWorksInARealBrowser) {
  const std::string chromium = program_in_path("chromium");
  const std::string node = program_in_path("node");
  if (chromium.empty() || node.empty()) {
    GTEST_SKIP() << "needs chromium and node: ./script/bootstrap --tests";
  }
  Sandbox sandbox;
  sandbox.write("trace.json", small_trace());
  const Outcome made =
      sandbox.amdahl({"profile", sandbox.path("trace.json"), "--html", sandbox.path("page.html")});
  ASSERT_EQ(made.code, 0) << made.err;
  const Outcome got = run({node, source_path("/tests/e2e/page_driver.js"), chromium,
                           sandbox.path("page.html"), sandbox.path("page.png")},
                          {}, sandbox.path());
  ASSERT_EQ(got.code, 0) << got.err;
  const Json seen = json_of(got);
  SCOPED_TRACE(got.out);
  EXPECT_EQ(seen.at("ready"), "yes");
  EXPECT_EQ(seen.at("errors"), Json::array()) << "it threw, or loaded something";
  EXPECT_GT(seen.at("drawn").get<int>(), 20);
  EXPECT_GT(seen.at("colours").get<int>(), 5);
  const auto from = [&](const char* name) { return seen.at(name).at(0).get<double>(); };
  const auto to = [&](const char* name) { return seen.at(name).at(1).get<double>(); };
  EXPECT_EQ(from("whole"), 0);
  EXPECT_EQ(to("whole"), 4e6);
  EXPECT_LT(to("zoomed") - from("zoomed"), 1e6);
  EXPECT_GT(from("dragged"), from("zoomed"));
  EXPECT_LT(from("moved"), from("dragged"));
  EXPECT_EQ(seen.at("again"), seen.at("whole"));
  EXPECT_NE(seen.at("tip").get<std::string>(), "");
  // On the path, as the device's reason, and on the thread, four times each.
  EXPECT_NE(seen.at("found").get<std::string>().find(" boxes, "), std::string::npos);
  EXPECT_NE(seen.at("light"), seen.at("dark"));
  EXPECT_TRUE(sandbox.has("page.png"));
}

std::string corpus() {
  const char* folder = std::getenv("AMDAHL_CORPUS");
  return folder == nullptr ? "" : std::string(folder) + "/traces";
}

Json profiled(const Sandbox& sandbox, const Words& files) {
  Words words{"profile", "--json"};
  words.insert(words.end(), files.begin(), files.end());
  const Outcome got = sandbox.amdahl(words);
  return json_of(got);
}

std::int64_t sum_of(const Json& object) {
  std::int64_t sum = 0;
  for (const auto& [name, value] : object.items()) sum += value.get<std::int64_t>();
  return sum;
}

const Json* gain_without(const Json& document, const std::string& name) {
  for (const Json& gain : document.at("gains")) {
    if (gain.at("without") == Json::array({name})) return &gain;
  }
  return nullptr;
}

// Every trace of the reference: reasons sum to the idle time of each device, the path to the wall
// time, and a replay that changes nothing gives the measurement.
TEST(TracesCorpus, SumsAreExactEverywhere) {
  if (corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS names no folder";
  Sandbox sandbox;
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(corpus())) {
    const std::string file = entry.path().string();
    const bool trace = file.ends_with(".json.gz") || file.ends_with(".sqlite");
    if (!trace || file.find("_et.json") != std::string::npos) continue;
    SCOPED_TRACE(file);
    // Timers of operations have no devices and no path, so nothing that could be replayed.
    const bool times_operations = file.find("/straggler/") != std::string::npos;
    const std::vector<std::string> asked = {file, "--what-if", "input=1"};
    if (times_operations) {
      EXPECT_EQ(sandbox.amdahl({"profile", file, "--what-if", "input=1"}).code, 2);
    }
    const Json got = profiled(sandbox, times_operations ? std::vector{file} : asked);
    if (got.is_null()) continue;
    ++files;
    if (got.contains("pipeline")) {
      const Json& steps = got.at("pipeline").at("steps");
      const double count = static_cast<double>(steps.size());
      double measured = 0;
      for (const Json& step : steps) measured += step.at("measured_ns").get<double>();
      // A nanosecond for each step, because each is rounded.
      EXPECT_NEAR(measured, got.at("wall_ns").get<double>(), count);
      EXPECT_NEAR(measured / count, got.at("pipeline").at("measured_ns").get<double>(), 1);
      continue;
    }
    EXPECT_EQ(sum_of(got.at("critical_path").at("by_reason_ns")), got.at("wall_ns"));
    EXPECT_EQ(got.at("what_if").at("replayed_ns"), got.at("wall_ns"));
    for (const Json& device : got.at("devices")) {
      EXPECT_EQ(sum_of(device.at("idle_by_reason_ns")), device.at("idle_ns"));
      EXPECT_LE(device.at("queue_mean"), device.at("queue_most"));
      EXPECT_EQ(device.at("busy_ns").get<std::int64_t>() + device.at("idle_ns").get<std::int64_t>(),
                device.at("span_ns").get<std::int64_t>());
    }
    for (const char* list : {"gains", "pairs"}) {
      for (const Json& gain : got.at(list)) {
        if (gain.at("ceiling").is_null()) continue;
        EXPECT_LE(gain.at("expected").get<double>(), gain.at("ceiling").get<double>());
      }
    }
  }
  EXPECT_GE(files, 30);
}

TEST(TracesCorpus, TheDeviceIsTheBottleneckWhereItIsBusy) {
  if (corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS names no folder";
  Sandbox sandbox;
  const Json got = profiled(sandbox, {corpus() + "/hta/v100_ns_rank0.json.gz"});
  EXPECT_GT(got.at("evidence").at("trace.path_device_share").get<double>(), 0.9);
  EXPECT_EQ(got.at("bottleneck"), "compute");
}

// The reference's pair: 0 loader workers, then 4; the mean step became 1.252 times as fast.
TEST(TracesCorpus, ADiffSaysWhatMovedAndFailsOnARegression) {
  if (corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS names no folder";
  Sandbox sandbox;
  const std::string before = corpus() + "/kineto_tb/resnet50_nw0_1623143089861.pt.trace.json.gz";
  const std::string after = corpus() + "/kineto_tb/resnet50_nw4_1623212756351.pt.trace.json.gz";
  const Json got = json_of(sandbox.amdahl({"profile", "--json", "--diff", before, after}));
  EXPECT_NEAR(got.at("change").get<double>(), 1 / 1.252 - 1, 1e-3);
  EXPECT_LT(got.at("change_upper").get<double>(), 0);
  EXPECT_EQ(got.at("moved").at(0).at("by"), "cause");
  EXPECT_EQ(got.at("moved").at(0).at("name"), "input");
  EXPECT_EQ(got.at("moved").at(0).at("can_tell"), true);
  const Words gate{"profile", "--diff", after, before, "--fail-if", "regression>3%"};
  EXPECT_EQ(sandbox.amdahl(gate).code, 1);
  const Words same{"profile", "--diff", after, after, "--fail-if", "regression>3%"};
  EXPECT_EQ(sandbox.amdahl(same).code, 0);
  EXPECT_EQ(sandbox.amdahl({"profile", "--diff", before, after, "--fail-if", "3"}).code, 2);
  EXPECT_EQ(sandbox.amdahl({"profile", after, "--fail-if", "regression>3%"}).code, 2);
}

double mean_step(const Json& document) {
  double sum = 0;
  for (const Json& step : document.at("steps")) sum += step.at("wall_ns").get<double>();
  return sum / static_cast<double>(document.at("steps").size());
}

double median_step(const Json& document) {
  std::vector<double> steps;
  for (const Json& step : document.at("steps")) steps.push_back(step.at("wall_ns").get<double>());
  std::sort(steps.begin(), steps.end());
  return (steps[(steps.size() - 1) / 2] + steps[steps.size() / 2]) / 2;
}

// expected/dataloader_whatif.txt, and what more workers really gained.
TEST(TracesCorpus, InputCeilingsHoldAgainstTheRealFix) {
  if (corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS names no folder";
  Sandbox sandbox;
  const struct {
    const char* before;
    const char* after;
    double share;
    double ceiling;
  } pairs[] = {{"nw0_1623143089861", "nw4_1623212756351", 0.3964, 1.657},
               {"nw0_1623143566756", "nw4_1623213129365", 0.2972, 1.423}};
  for (const auto& pair : pairs) {
    SCOPED_TRACE(pair.before);
    const auto file = [&](const char* name) {
      return corpus() + "/kineto_tb/resnet50_" + name + ".pt.trace.json.gz";
    };
    const Json before = profiled(sandbox, {file(pair.before)});
    const Json after = profiled(sandbox, {file(pair.after)});
    ASSERT_FALSE(before.is_null() || after.is_null());
    EXPECT_EQ(before.at("bottleneck"), "input");
    const Json* input = gain_without(before, "input");
    ASSERT_NE(input, nullptr);
    EXPECT_NEAR(input->at("share").get<double>(), pair.share, 0.00005);
    EXPECT_NEAR(input->at("ceiling").get<double>(), pair.ceiling, 0.0005);
    const double ceiling = input->at("ceiling").get<double>();
    EXPECT_LE(mean_step(before) / mean_step(after), ceiling);
    EXPECT_LE(median_step(before) / median_step(after), ceiling);
    EXPECT_GE(before.at("causes").at(0).at("ceiling").get<double>(), ceiling * 0.9999);
  }
}

// Both captures are 0.3 s of the same model: what changed is how many kernels it got through.
TEST(TracesCorpus, NoCeilingIsBelowWhatNsightsPairGained) {
  if (corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS names no folder";
  Sandbox sandbox;
  const Json before = profiled(sandbox, {corpus() + "/nsys/mfu_2gpu_before.sqlite"});
  const Json after = profiled(sandbox, {corpus() + "/nsys/mfu_2gpu_after.sqlite"});
  const auto kernels = [](const Json& document) {
    double sum = 0;
    for (const Json& device : document.at("devices")) sum += device.at("kernels").get<double>();
    return sum / document.at("wall_ns").get<double>();
  };
  const double realised = kernels(after) / kernels(before);
  for (const Json& gain : before.at("gains")) {
    if (gain.at("ceiling").is_null()) continue;
    EXPECT_LE(realised, gain.at("ceiling").get<double>());
  }
}

// One second of a job that waits for nothing but copies; what is queued was launched before it.
TEST(TracesCorpus, FullQueuesAreNoWorkOfTheHost) {
  if (corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS names no folder";
  Sandbox sandbox;
  const Json got = profiled(sandbox, {corpus() + "/nsys/h100_2gpu_1s.sqlite"});
  const Json* copy = gain_without(got, "copy");
  ASSERT_NE(copy, nullptr);
  EXPECT_GT(copy->at("expected").get<double>(), 5);
  EXPECT_LT(copy->at("ceiling").get<double>(), 50);
}

TEST(TracesCorpus, EightRanksAreOneJob) {
  if (corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS names no folder";
  Sandbox sandbox;
  Words files;
  for (const auto& entry : fs::directory_iterator(corpus() + "/param/dlrm_kineto")) {
    files.push_back(entry.path().string());
  }
  ASSERT_EQ(files.size(), 8u);
  const Json got = profiled(sandbox, files);
  EXPECT_EQ(got.at("ranks").at("note"), "");
  EXPECT_EQ(got.at("ranks").at("ranks").size(), 8u);
  EXPECT_FALSE(got.at("ranks").at("collectives").empty());
  // The files do not begin together: what the first collective waits for is in none of them.
  EXPECT_EQ(got.at("bottleneck"), "serial") << got.at("rule");
  EXPECT_NE(got.at("missing").dump().find("with traces that start later"), std::string::npos);
  EXPECT_EQ(sum_of(got.at("critical_path").at("by_reason_ns")), got.at("wall_ns"));
}

TEST(TracesCorpus, WhatIfsAreThoseOfTheTable) {
  if (corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS names no folder";
  Sandbox sandbox;
  const std::string file = corpus() + "/kineto_tb/resnet50_nw0_1623143089861.pt.trace.json.gz";
  const Json input = profiled(sandbox, {file, "--what-if", "input=0"});
  const Json* alone = gain_without(input, "input");
  ASSERT_NE(alone, nullptr);
  EXPECT_EQ(input.at("what_if").at("replayed_ns"), alone->at("replayed_ns"));
  EXPECT_EQ(input.at("what_if").at("ceiling"), alone->at("ceiling"));
  EXPECT_NE(alone->at("ceiling"), nullptr);
  const Json both = profiled(sandbox, {file, "--what-if", "input=0,logging=0.5"});
  EXPECT_EQ(both.at("what_if").at("asked"), "input=0,logging=0.5");
  EXPECT_LE(both.at("what_if").at("replayed_ns"), alone->at("replayed_ns"));
  const Json slower = profiled(sandbox, {file, "--what-if", "input=2"});
  EXPECT_LT(slower.at("what_if").at("expected"), 0.8);
  for (const Json& pair : input.at("pairs")) {
    double product = 1;
    for (const Json& name : pair.at("without")) {
      const Json* const one = gain_without(input, name.get<std::string>());
      ASSERT_NE(one, nullptr);
      EXPECT_GE(pair.at("expected"), one->at("expected"));
      product *= one->at("expected").get<double>();
    }
    EXPECT_NE(pair.at("expected").get<double>(), product) << "gains do not add";
  }
}

// Files of two jobs: the path goes through one after the other, and the page says so.
TEST(TracesCorpus, FilesThatLieApartAreToldApart) {
  if (corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS names no folder";
  Sandbox sandbox;
  const std::string one =
      corpus() + "/param/dlrm_kineto/worker0_step_12.1694128201545.pt.trace.json.gz";
  const std::string other = corpus() + "/hta/a100_event_sync.json.gz";
  const Json got = profiled(sandbox, {one, other});
  EXPECT_NE(got.at("missing").dump().find("not of the same processes"), std::string::npos);
  EXPECT_LT(got.at("wall_ns").get<double>(), 60e9);
  EXPECT_EQ(sum_of(got.at("critical_path").at("by_reason_ns")), got.at("wall_ns"));
  const Json& path = got.at("critical_path").at("by_reason_ns");
  EXPECT_LT(path.value("unknown", 0.0), 0.05 * got.at("wall_ns").get<double>());
  const Outcome twice = sandbox.amdahl({"profile", one, one});
  EXPECT_EQ(twice.code, 2);
  EXPECT_NE(twice.err.find("is given twice"), std::string::npos) << twice.err;
}

// The same captures of both runs, before and after the fix, in one call.
TEST(TracesCorpus, ThePathGoesThroughAllCaptures) {
  if (corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS names no folder";
  Sandbox sandbox;
  Words files;
  for (const auto& entry : fs::directory_iterator(corpus() + "/kineto_tb")) {
    if (entry.path().extension() == ".gz") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  ASSERT_EQ(files.size(), 4u);
  const Json got = profiled(sandbox, files);
  const Json& path = got.at("critical_path").at("by_reason_ns");
  EXPECT_GT(path.value("input", 0.0), 0.1 * got.at("wall_ns").get<double>());
  const Json* input = gain_without(got, "input");
  ASSERT_NE(input, nullptr);
  EXPECT_GT(input->at("expected").get<double>(), 1.1);
}

TEST(TracesCorpus, KernelReportsStandBesideTraces) {
  if (corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS names no folder";
  Sandbox sandbox;
  const Json got = profiled(sandbox, {corpus() + "/ncu/copy_blocked.csv",
                                      corpus() + "/hta/mi250_rocm62_minitoy.json.gz"});
  EXPECT_EQ(got.at("sources").size(), 2u);
  ASSERT_EQ(got.at("kernels").size(), 1u);
  EXPECT_EQ(got.at("kernels").at(0).at("bound"), "memory");
  EXPECT_EQ(got.at("devices").size(), 1u);
}

TEST(TracesCorpus, CannotTellWithoutDevices) {
  if (corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS names no folder";
  Sandbox sandbox;
  const Json got = profiled(sandbox, {corpus() + "/hta/cpu_only_rank34.json.gz"});
  EXPECT_EQ(got.at("devices"), Json::array());
  EXPECT_NE(got.at("missing").dump().find("devices: the trace has no device events"),
            std::string::npos);
}

}  // namespace
}  // namespace amdahl::e2e
