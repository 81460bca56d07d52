// The PyTorch hook in real Python programs under the supervisor.
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "observe/testing.h"

namespace amdahl::observe {
namespace {

class HookTest : public InFolder {
 protected:
  RunOrder python(const std::string& script, bool with_hook = true) const {
    write("job.py", script);
    RunOrder made = order({"/usr/bin/python3", "job.py"});
    made.with_hook = with_hook;
    return made;
  }
  Json hook() const {
    const auto text = os::read_file(path("out/hook.json"));
    if (!text) {
      ADD_FAILURE() << text.error().text;
      return Json::object();
    }
    return *parse_json(*text);
  }
  // The dearest line of a phase.
  static Json line_of(const Json& seen, const std::string& phase) {
    for (const Json& row : seen.at("lines")) {
      if (row.at("phase") == phase) return row;
    }
    return Json::object();
  }
  // The window as a trace, with a range for each of its steps.
  void expect_trace(int steps) const {
    int found = 0;
    int ranges = 0;
    for (const std::string& name : os::list(path("out"))) {
      if (!name.ends_with(".pt.trace.json")) continue;
      ++found;
      const auto trace = parse_json(*os::read_file(path("out/" + name)));
      ASSERT_TRUE(trace);
      for (const Json& event : trace->at("traceEvents")) {
        ranges += event.at("name").get<std::string>().starts_with("ProfilerStep#") ? 1 : 0;
      }
    }
    EXPECT_GE(found, 1);
    EXPECT_GE(ranges, steps);
  }
  static bool no_torch() {
    return std::system("/usr/bin/python3 -c 'import torch' 2>/dev/null") != 0;
  }
};

constexpr const char* kTorchJob = R"(
import os, sys
import torch
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    def __len__(self): return 96
    def __getitem__(self, i): return torch.full((16,), float(i))

def main():
    torch.manual_seed(1)
    model = torch.nn.Linear(16, 4)
    total = 0.0
    for batch in DataLoader(Numbers(), batch_size=4, num_workers=WORKERS):
        with torch.no_grad():
            total += model(batch).sum().item()
    torch.save(model.state_dict(), os.environ["AMDAHL_OUT"] + "/model.pt")
    with open(os.environ["AMDAHL_OUT"] + "/log", "w") as log:
        log.write("done")
        log.flush()
        os.fsync(log.fileno())
    print("%.6f" % total)

main()
)";

std::string torch_job(const std::string& workers) {
  std::string text = kTorchJob;
  return text.replace(text.find("WORKERS"), 7, workers);
}

TEST_F(HookTest, SeesStepsLoaderOperatorsAndSavesOfAnUnchangedTorchJob) {
  if (no_torch()) GTEST_SKIP() << "/usr/bin/python3 has no torch here";
  const model::Receipt plain = run(python(torch_job("0"), false));
  ASSERT_EQ(plain.code, 0) << plain.stderr_tail;
  EXPECT_FALSE(os::exists(path("out/hook.json")));
  for (const char* workers : {"0", "2"}) {
    SCOPED_TRACE(workers);
    const model::Receipt receipt = run(python(torch_job(workers)));
    EXPECT_EQ(receipt.code, 0);
    EXPECT_EQ(receipt.stdout_tail, plain.stdout_tail) << "the same result";
    EXPECT_EQ(receipt.stderr_tail, "");
    const Json seen = hook();
    EXPECT_EQ(seen.at("schema"), 1);
    EXPECT_EQ(seen.at("steps"), 24);
    EXPECT_EQ(seen.at("save_calls"), 1);
    EXPECT_EQ(seen.at("fsync_calls"), 1);
    EXPECT_EQ(seen.at("loader").at("batch_size"), 4);
    EXPECT_EQ(seen.at("loader").at("num_workers"), std::stoi(workers));
    EXPECT_EQ(seen.at("loader").at("dataset_len"), 96);
    EXPECT_EQ(seen.at("grad_enabled_share"), 0.0);
    EXPECT_EQ(seen.at("inference_mode_share"), 0.0);
    EXPECT_EQ(seen.at("step_s").size(), 3u);
    EXPECT_GT(seen.at("import_s"), 0.05);
    EXPECT_GE(seen.at("startup_s"), seen.at("torch_import_s"));
    EXPECT_GE(seen.at("wall_s"), seen.at("startup_s"));
    const Json& window = seen.at("window");
    // It opens when the steps are alike, which a busy machine delays.
    EXPECT_LE(window.at("steps"), 20);
    EXPECT_GE(window.at("steps"), 12);
    EXPECT_EQ(window.at("scalar_syncs"), window.at("steps"));
    EXPECT_GE(window.at("op_calls"), 60);
    bool gemm = false;
    for (const Json& op : window.at("ops")) gemm = gemm || op.at("name") == "aten::addmm";
    EXPECT_TRUE(gemm) << window.dump();
    EXPECT_GT(seen.at("first_batch_s"), 0);
    EXPECT_EQ(seen.at("imports").at(0).at("module"), "torch");
    EXPECT_GE(seen.at("lines_cpu_s"), 0);
    EXPECT_EQ(line_of(seen, "startup").at("line"), 3) << "import torch takes longest";
    expect_trace(window.at("steps"));
  }
}

TEST_F(HookTest, GivesWayToTheJobsOwnProfiler) {
  if (no_torch()) GTEST_SKIP() << "/usr/bin/python3 has no torch here";
  const model::Receipt receipt = run(python(R"(
import torch
from torch.utils.data import DataLoader
from torch.profiler import profile
for i, batch in enumerate(DataLoader(torch.zeros(64, 2), batch_size=4)):
    if i == 6:
        with profile() as own:
            batch.sum()
        print(any(row.key == "aten::sum" for row in own.key_averages()))
)"));
  EXPECT_EQ(receipt.stdout_tail, "True\n") << receipt.stderr_tail;
  EXPECT_EQ(hook().at("steps"), 16);
}

TEST_F(HookTest, AProgramWithoutTorchIsLeftAsItWas) {
  const model::Receipt receipt = run(python(R"(
import json, os, subprocess, sys
assert not any("hook" in entry for entry in sys.path), sys.path
if os.fork() == 0:
    sys.exit(0)
os.wait()
subprocess.run([sys.executable, "-c", "pass"], check=True)
print("fine")
)"));
  EXPECT_EQ(receipt.code, 0);
  EXPECT_EQ(receipt.stdout_tail, "fine\n");
  EXPECT_EQ(receipt.stderr_tail, "");
  const Json seen = hook();
  EXPECT_TRUE(seen.at("torch").is_null());
  EXPECT_EQ(seen.at("steps"), 0);
  EXPECT_FALSE(seen.contains("startup_s"));
  EXPECT_GT(seen.at("wall_s"), 0);
}

TEST_F(HookTest, ACrashLooksTheSameAndIsStillReported) {
  write("broken.py", "import json\nraise ValueError('broken')\n");
  for (const char* script : {"import no_such_module_anywhere\n", "import broken\n",
                             "import json\njson.loads('x')\n", "import sys\nsys.exit(5)\n"}) {
    SCOPED_TRACE(script);
    const model::Receipt plain = run(python(script, false));
    const model::Receipt receipt = run(python(script));
    EXPECT_NE(receipt.code, 0);
    EXPECT_EQ(receipt.code, plain.code);
    EXPECT_EQ(receipt.stderr_tail, plain.stderr_tail);
    EXPECT_GT(hook().at("wall_s"), 0);
  }
}

TEST_F(HookTest, TheHostsOwnSitecustomizeStillRuns) {
  write("site/sitecustomize.py", "import builtins\nbuiltins.from_the_host = 42\n");
  RunOrder made = python("import sitecustomize\nprint(from_the_host, sitecustomize.__file__)\n");
  made.plan.env["PYTHONPATH"] = path("site");
  const model::Receipt receipt = run(made);
  EXPECT_EQ(receipt.stdout_tail, "42 " + path("site/sitecustomize.py") + "\n")
      << receipt.stderr_tail;
  EXPECT_TRUE(os::exists(path("out/hook.json")));
}

TEST_F(HookTest, AReportThatCannotBeWrittenIsNoReasonToFail) {
  RunOrder made = python("import os\nos.environ['X'] = '1'\nprint('ok')\n", false);
  made.plan.env["PYTHONPATH"] = std::string(AMDAHL_SOURCE_DIR) + "/src/observe/hook";
  made.plan.env["AMDAHL_HOOK_OUT"] = "/no/such/folder/hook.json";
  made.plan.env["AMDAHL_HOOK_STEPS"] = "not a number";
  const model::Receipt receipt = run(made);
  EXPECT_EQ(receipt.code, 0);
  EXPECT_EQ(receipt.stdout_tail, "ok\n");
  EXPECT_EQ(receipt.stderr_tail, "");
}

}  // namespace
}  // namespace amdahl::observe
