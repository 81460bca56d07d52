// The PyTorch hook in real Python programs under the supervisor.
#include <cstdlib>
#include <set>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "observe/testing.h"
#include "source_dir.h"

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
    EXPECT_EQ(line_of(seen, "import").at("line"), 3) << "import torch takes longest";
    EXPECT_GE(seen.at("installed_import_s"), seen.at("torch_import_s"));
    expect_trace(window.at("steps"));
  }
}

TEST_F(HookTest, LinesThatMakeBatchesAreToldFromThoseOfTheStep) {
  if (no_torch()) GTEST_SKIP() << "/usr/bin/python3 has no torch here";
  run(python(R"(import time, torch
from torch.utils.data import DataLoader, Dataset
class Slow(Dataset):
    def __len__(self): return 20
    def __getitem__(self, i):
        time.sleep(0.02)
        return i
for i in DataLoader(Slow()):
    time.sleep(0.01)
)"));
  const Json seen = hook();
  EXPECT_EQ(line_of(seen, "import").at("line"), 1);
  EXPECT_EQ(line_of(seen, "input").at("line"), 6) << seen.at("lines").dump();
  EXPECT_EQ(line_of(seen, "step").at("line"), 9) << seen.at("lines").dump();
  EXPECT_EQ(line_of(seen, "loader").at("line"), 8) << seen.at("lines").dump();
  EXPECT_LE(seen.at("uncompiled_modules"), 2) << "torch was installed with its bytecode";
}

// Turning the window into rows and a trace takes seconds, which are not the job's.
TEST_F(HookTest, WhatItDoesAtTheEndIsTold) {
  if (no_torch()) GTEST_SKIP() << "/usr/bin/python3 has no torch here";
  run(
      python("import time, torch.profiler\n"
             "def slow(call):\n"
             "    return lambda *words: time.sleep(1.0) or call(*words)\n"
             "torch.profiler.kineto_available = slow(torch.profiler.kineto_available)\n" +
             torch_job("0")));
  const Json seen = hook();
  EXPECT_GE(seen.at("exit_s"), 1.0);
  EXPECT_GT(seen.at("exit_cpu_s"), 0.0);
  EXPECT_LT(seen.at("exit_cpu_s"), seen.at("exit_s")) << "it slept for a part of it";
  EXPECT_GE(seen.at("wall_s"), seen.at("startup_s"));
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
  EXPECT_EQ(hook().at("own_profiler"), true);
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

// The collectors outside leave it out by its name.
TEST_F(HookTest, TheThreadThatLooksHasAName) {
  const model::Receipt receipt = run(python(R"(
import os, time
found = ""
while not found:
    time.sleep(0.001)
    for thread in os.listdir("/proc/self/task"):
        with open("/proc/self/task/%s/comm" % thread) as name:
            found += name.read() if int(thread) != os.getpid() else ""
    found = found if found != "python3\n" else ""
print(found, end="")
)"));
  EXPECT_EQ(receipt.stdout_tail, "amdahl lines\n") << receipt.stderr_tail;
}

// What the job's own modules do when they are imported is its own doing.
// Who looks must hold the interpreter's lock: a line that never gives it away was not seen at all.
TEST_F(HookTest, LinesThatComputeInPythonAreSeenAsMuchAsThoseOfLibraries) {
  const model::Receipt receipt = run(python(R"(
import hashlib, time
data, in_python, began = bytes(2_000_000), 0.0, time.perf_counter()
while time.perf_counter() - began < 1.5:
    at = time.perf_counter()
    total = sum(i * i for i in range(60_000))
    in_python += time.perf_counter() - at
    hashlib.sha256(data).digest()
print("%.6f" % in_python)
)"));
  ASSERT_EQ(receipt.code, 0) << receipt.stderr_tail;
  const Json seen = hook();
  double seconds = 0;
  for (const Json& row : seen.at("lines")) {
    if (row.at("line") == 6) seconds += row.at("seconds").get<double>();
  }
  const double in_python = std::strtod(receipt.stdout_tail.c_str(), nullptr);
  EXPECT_GE(seconds, in_python / 2) << seen.at("lines").dump();
  EXPECT_LE(seconds, in_python * 2) << seen.at("lines").dump();
}

TEST_F(HookTest, TellsImportsOfItsOwnModulesFromThoseOfInstalledOnes) {
  write("own.py", "import json, time\ntime.sleep(0.5)\n");
  const model::Receipt receipt = run(python("import os\nimport own\n"));
  EXPECT_EQ(receipt.code, 0) << receipt.stderr_tail;
  const Json seen = hook();
  SCOPED_TRACE(seen.dump(1));
  const double own =
      seen.at("import_s").get<double>() - seen.at("installed_import_s").get<double>();
  EXPECT_GE(own, 0.49);
  EXPECT_GT(seen.at("installed_import_s"), 0);
  EXPECT_EQ(line_of(seen, "startup").at("file"), path("own.py"));
  EXPECT_EQ(line_of(seen, "startup").at("line"), 2);
  // The line that imports it holds all of that.
  EXPECT_EQ(line_of(seen, "import").at("file"), path("job.py"));
  EXPECT_EQ(line_of(seen, "import").at("line"), 2);
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

// However it ends, it ends the same way as without the hook, and what was seen is there.
TEST_F(HookTest, EveryWayToEndIsReported) {
  if (no_torch()) GTEST_SKIP() << "/usr/bin/python3 has no torch here";
  const struct {
    const char* how;
    int code;
    bool ended;
    bool has_window;
  } cases[] = {
      {"raise ValueError('broken')", 1, true, true},
      {"sys.exit(3)", 3, true, true},
      {"os._exit(4)", 4, true, true},
      {"threading.Thread(target=os._exit, args=(5,)).start(); time.sleep(100)", 5, true, true},
      // Not before the hook had a chance to say what there is: that is what `seen` waits for.
      {"seen(); os.kill(os.getpid(), signal.SIGKILL)", 9, false, false},
      {"os.kill(os.getpid(), signal.SIGTERM); time.sleep(100)", 15, true, true},
      // A call that does not come back to Python.
      {"threading.Timer(0.1, os.kill, (os.getpid(), 15)).start(); wait_in_c()", 15, true, true},
      // Its own handler is its own.
      {"signal.signal(15, lambda *_: sys.exit(6)); os.kill(os.getpid(), 15); time.sleep(9)", 6,
       true, true},
      {"signal.signal(15, signal.SIG_IGN); os.kill(os.getpid(), 15); sys.exit(7)", 7, true, true},
      {"assert signal.getsignal(15) == signal.SIG_DFL; sys.exit(8)", 8, true, true},
      {"signal.signal(15, signal.SIG_DFL); os.kill(os.getpid(), 15); time.sleep(9)", 15, true,
       true},
      // Children end as they would have.
      {"pid = os.fork() or time.sleep(100); os.kill(pid, 15); sys.exit(os.waitpid(pid, 0)[1])", 15,
       true, true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.how);
    const model::Receipt receipt = run(python(std::string(R"(
import ctypes, json, os, signal, sys, threading, time
import torch
from torch.utils.data import DataLoader

def seen():
    while True:
        time.sleep(0.01)
        try:
            with open(os.environ["AMDAHL_HOOK_OUT"]) as file:
                if json.load(file)["steps"] == 41: return
        except OSError:
            pass

def wait_in_c():
    ctypes.CDLL(None).pause()
    ctypes.CDLL(None).sleep(100)

for i, batch in enumerate(DataLoader(torch.zeros(64, 2), batch_size=1)):
    batch.sum()
    if i == 40:
        )") + c.how + "\n"));
    EXPECT_EQ(receipt.code, c.code);
    const Json report = hook();
    EXPECT_EQ(report.at("ended"), c.ended);
    EXPECT_EQ(report.at("steps"), 41);
    EXPECT_GT(report.at("startup_s"), 0);
    EXPECT_EQ(line_of(report, "import").at("line"), 3);
    EXPECT_EQ(report.contains("window"), c.has_window);
  }
}

constexpr const char* kRanks = R"(
import os, sys
import torch, torch.distributed as dist, torch.multiprocessing as mp
from torch.utils.data import DataLoader

def work(rank, world, store):
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=world)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(16, 16))
    for batch in DataLoader(torch.zeros(64, 16), batch_size=2):
        model(batch).sum().backward()
    dist.destroy_process_group()

if __name__ == "__main__":
    mp.start_processes(work, args=(2, os.environ["AMDAHL_OUT"] + "/store"), nprocs=2,
                       start_method="HOW")
)";

TEST_F(HookTest, RanksAreSeenHoweverTheyAreStarted) {
  if (no_torch()) GTEST_SKIP() << "/usr/bin/python3 has no torch here";
  for (const std::string how : {"fork", "spawn"}) {
    SCOPED_TRACE(how);
    std::filesystem::remove_all(path("out"));
    std::string script = kRanks;
    script.replace(script.find("HOW"), 3, how);
    const model::Receipt receipt = run(python(script));
    EXPECT_EQ(receipt.code, 0) << receipt.stderr_tail;
    const Json report = hook();
    EXPECT_EQ(report.at("rank"), 0);
    EXPECT_EQ(report.at("world_size"), 2);
    EXPECT_EQ(report.at("steps"), 32);
    EXPECT_GT(report.at("torch_import_s"), 0) << "a forked rank's start is its parent's";
    std::set<int> ranks;
    for (const std::string& name : os::list(path("out"))) {
      if (!name.ends_with(".pt.trace.json")) continue;
      const auto trace = parse_json(*os::read_file(path("out/" + name)));
      ASSERT_TRUE(trace);
      ranks.insert(trace->at("distributedInfo").at("rank").get<int>());
    }
    EXPECT_EQ(ranks, (std::set<int>{0, 1}));
  }
}

TEST_F(HookTest, WithoutALoaderCallsOfTheOutermostModuleAreSteps) {
  if (no_torch()) GTEST_SKIP() << "/usr/bin/python3 has no torch here";
  const model::Receipt receipt = run(python(R"(
import copy, pickle, threading
def late():
    import torch
thread = threading.Thread(target=late)
thread.start()
thread.join()
import torch
inner = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(4, 4))
model = torch.nn.Sequential(torch.nn.Linear(4, 4), inner)
for i in range(30):
    model(torch.ones(2, 4)).sum().item()
    inner(torch.ones(2, 4))
model = pickle.loads(pickle.dumps(copy.deepcopy(model)))
torch.jit.script(model)
import torch.fx
print([node.op for node in torch.fx.symbolic_trace(model).graph.nodes])
)"));
  EXPECT_EQ(receipt.code, 0) << receipt.stderr_tail;
  EXPECT_EQ(receipt.stdout_tail,
            "['placeholder', 'call_module', 'call_module', 'call_module', 'output']\n");
  const Json seen = hook();
  EXPECT_EQ(seen.at("steps"), 30);
  EXPECT_EQ(seen.at("steps_by"), "forward");
  EXPECT_GE(seen.at("window").at("steps"), 12);
  EXPECT_GT(seen.at("torch_import_s"), 0);
  expect_trace(seen.at("window").at("steps"));
}

// The steps are those of the thread that runs the model.
TEST_F(HookTest, AModelThatRunsInAnotherThreadMakesItsSteps) {
  if (no_torch()) GTEST_SKIP() << "/usr/bin/python3 has no torch here";
  const struct {
    const char* how;
    const char* by;
    bool has_window;
  } cases[] = {
      {"thread = threading.Thread(target=work); thread.start(); thread.join()", "forward", true},
      {"with ThreadPoolExecutor(1) as pool: list(pool.map(answer, range(30)))", "forward", true},
      {"answer(0)  # A trial.\nwith ThreadPoolExecutor(1) as pool: pool.submit(work).result()",
       "forward", true},
      {"with ThreadPoolExecutor(1) as pool: pool.submit(train).result()", "loader", true},
      // A thread for each request: there is none that a profiler could look into.
      {"for i in range(30):\n    t = threading.Thread(target=answer, args=(i,)); t.start(); "
       "t.join()",
       "forward", false},
      // Who only loads in another thread runs the model in the first.
      {"for batch in prefetched(): model(batch)", "forward", true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.how);
    const model::Receipt receipt = run(python(std::string(R"(
import queue, threading
from concurrent.futures import ThreadPoolExecutor
import torch
from torch.utils.data import DataLoader
model = torch.nn.Sequential(torch.nn.Linear(4, 4))
loader = DataLoader(torch.zeros(30, 4), batch_size=1)

def answer(i):
    return model(torch.zeros(1, 4))

def work():
    for i in range(30): answer(i)

def train():
    for batch in loader: model(batch)

def prefetched():
    ready = queue.Queue(2)
    fill = lambda: [ready.put(batch) for batch in loader] + [ready.put(None)]
    threading.Thread(target=fill).start()
    return iter(ready.get, None)

)") + c.how + "\n"));
    EXPECT_EQ(receipt.code, 0) << receipt.stderr_tail;
    const Json seen = hook();
    // A batch that was taken before the model was first called there is not known of.
    EXPECT_GE(seen.at("steps"), 29);
    EXPECT_EQ(seen.at("steps_by"), c.by);
    EXPECT_EQ(seen.contains("window"), c.has_window);
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

// Scripts that start a job often set the path of its own modules.
TEST_F(HookTest, AJobThatSetsPythonsPathIsSeenAllTheSame) {
  write("job.py", "import own\nprint(own.x)\n");
  write("src/own.py", "import sys\nx = [p for p in sys.path if 'hook' in p]\n");
  RunOrder made = order({"/bin/sh", "-c", "PYTHONPATH=src /usr/bin/python3 job.py"});
  made.with_hook = true;
  const model::Receipt receipt = run(made);
  EXPECT_EQ(receipt.stdout_tail, "[]\n") << receipt.stderr_tail;
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
