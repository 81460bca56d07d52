// What every fix of playbook/inject/ must leave alone: jobs without its cause, and jobs whose
// results it would change. All at once, so that a start of torch is paid for once a job.
#include <cstdlib>
#include <set>

#include "observe/fixes.h"
#include "observe/testing.h"

namespace amdahl::observe {
namespace {

using Inject = std::map<std::string, std::string>;

// Values that the playbook gives; all others are "on".
Inject all_fixes() {
  Inject inject;
  for (const std::string& fix : fix_names()) inject[fix] = "on";
  for (const auto& [fix, value] : Inject{{"loader-prefetch", "8"},
                                         {"loader-thread", "2"},
                                         {"loader-workers", "1"},
                                         {"parsed-kept", "64"},
                                         {"read-ahead", "4"},
                                         {"read-once", "64"},
                                         {"remember-samples", "64"},
                                         {"switch-interval", "0.001"},
                                         {"threads", "1"}}) {
    inject[fix] = value;
  }
  return inject;
}

class FixesTableTest : public InFolder {
 protected:
  std::string printed(const std::string& script, const Inject& inject) {
    write("job.py", script);
    RunOrder made = order({"/usr/bin/python3", "-W", "ignore", "job.py"});
    made.plan.env["OMP_NUM_THREADS"] = "1";
    made.plan.inject = inject;
    receipt_ = run(made);
    EXPECT_EQ(receipt_.code, 0) << receipt_.stderr_tail;
    return receipt_.stdout_tail;
  }
  std::set<std::string> engaged() const {
    std::set<std::string> fixes;
    for (const model::Engagement& one : receipt_.injected) {
      if (one.times > 0) fixes.insert(one.fix);
    }
    return fixes;
  }
  std::string why_not(const std::string& fix) const {
    for (const model::Engagement& one : receipt_.injected) {
      if (one.fix == fix) return one.refused;
    }
    return "was not asked for";
  }
  static bool no_torch() {
    return std::system("/usr/bin/python3 -c 'import torch' 2>/dev/null") != 0;
  }

  model::Receipt receipt_;
};

// Has none of the causes: reads, parses, logs and saves nothing, or once.
constexpr const char* kPlain = R"(
import gc
gc.disable()
import json, os, sys
value = json.loads("[1, 2]")
with open("once", "w") as file:
    file.write("x")
    os.fsync(file.fileno())
with open("once") as file:
    file.read()
os.write(1, b"sum %d\n" % sum(value))
)";

TEST_F(FixesTableTest, AJobWithoutTheirCausesIsLeftAlone) {
  const std::string before = printed(kPlain, {});
  EXPECT_EQ(printed(kPlain, all_fixes()), before);
  EXPECT_EQ(engaged(), std::set<std::string>{});
  EXPECT_EQ(receipt_.never_runs, model::NeverRuns::kDidNotEngage);
  EXPECT_EQ(receipt_.injected.size(), fix_names().size());
  EXPECT_GT(fixes_cost(path("out")), 0);
  EXPECT_LT(fixes_cost(path("out")), 5);
  if (no_torch()) return;
  // With torch, late, and one pass over each thing.
  const std::string job = std::string(kPlain) + R"(
def main():
    import torch
    from torch.utils.data import DataLoader
    torch.manual_seed(3)
    model = torch.nn.Linear(2, 1)
    with torch.no_grad():
        total = sum(float(model(row).sum()) for row in torch.ones(4, 2))
    os.write(1, b"%r\n" % total)
main()
)";
  const std::string with_torch = printed(job, {});
  EXPECT_EQ(printed(job, all_fixes()), with_torch);
  EXPECT_EQ(engaged(), std::set<std::string>{});
}

// Each line would come out differently if its fix acted as elsewhere.
constexpr const char* kOwnWays = R"(
import gc
gc.disable()
import os, random, signal, sys
import numpy, torch
from torch.utils.data import DataLoader, Dataset, IterableDataset
torch.manual_seed(1)
def say(*words):
    os.write(1, (" ".join(map(repr, words)) + "\n").encode())
handler = lambda number, frame: say("told", number)
signal.signal(signal.SIGTERM, handler)
os.kill(os.getpid(), signal.SIGTERM)
# A map of a file that is written to between, and one that is to be written to.
for step in range(3):
    numpy.full(8, step, dtype=numpy.float32).tofile("numbers")
    say(float(numpy.memmap("numbers", dtype=numpy.float32, mode="r").sum()))
    own = numpy.memmap("numbers", dtype=numpy.float32, mode="r+")
    own[0] += 1
    own.flush()
    say(float(numpy.loadtxt(["%d" % step])))
# An optimiser that was told what to do, and a gradient that is looked at after it was zeroed.
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1, foreach=False)
for step in range(3):
    model(torch.ones(4)).sum().backward()
    optimizer.step()
    model.zero_grad(set_to_none=True)
    say(model.weight.grad)
# Tensors of parts of several types.
say(torch.tensor([numpy.arange(2.0), numpy.arange(2)]).tolist())
class Uncopied:
    def __deepcopy__(self, memo):
        raise ValueError("there is one of me")
    def __reduce__(self):
        return Uncopied, ()
torch.save({"a": Uncopied()}, "saved")
say(os.path.getsize("saved") > 0)
class Lucky(Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, index):
        return torch.rand(1)
class Stream(IterableDataset):
    def __iter__(self):
        return iter(torch.rand(4))
for loader in (DataLoader(Lucky(), 2), DataLoader(Stream(), 2),
               DataLoader(Stream(), 2, num_workers=1)):
    for epoch in range(2):
        say([batch.sum().tolist() for batch in loader])
say(signal.getsignal(signal.SIGTERM) is handler)
)";

TEST_F(FixesTableTest, WhatWouldComeOutDifferentlyIsRefused) {
  if (no_torch()) GTEST_SKIP() << "python3-torch is not installed";
  const std::string before = printed(kOwnWays, {});
  EXPECT_EQ(printed(kOwnWays, all_fixes()), before);
  EXPECT_EQ(engaged(), std::set<std::string>{"switch-interval"})
      << "the worker's queue has a thread";
  for (const auto& [fix, why] :
       Inject{{"checkpoint-thread", "it cannot be copied: there is one of me"},
              {"cudnn-autotune", "torch sees no device"},
              {"loader-persistent", "the data set is a stream"},
              {"loader-pin", "torch sees no device"},
              {"loader-prefetch", "the data set is a stream"},
              {"loader-thread", "the data set is a stream"},
              {"loader-workers", "the data set is a stream"},
              {"remember-samples", "it draws random numbers"}}) {
    EXPECT_NE(why_not(fix).find(why), std::string::npos) << fix << ": " << why_not(fix);
  }
}

// More threads than the slots, by the job itself and for its workers.
TEST_F(FixesTableTest, ThreadsAreThoseOfTheSlots) {
  if (no_torch()) GTEST_SKIP() << "python3-torch is not installed";
  const std::string job = R"(
import torch
torch.set_num_threads(THREADS)
print(torch.get_num_threads())
)";
  const auto asking_for = [&](const std::string& threads) {
    std::string asked = job;
    return asked.replace(asked.find("THREADS"), 7, threads);
  };
  EXPECT_EQ(printed(asking_for("4"), {{"threads", "2"}}), "2\n");
  EXPECT_EQ(receipt_.injected[0].times, 2) << "from one to two, and from four";
  EXPECT_EQ(printed(asking_for("1"), {{"threads", "1"}}), "1\n");
  EXPECT_EQ(engaged(), std::set<std::string>{});
}

// Batches further ahead, and shorter turns of threads: the same samples in the same order.
TEST_F(FixesTableTest, SettingsOfLoadersAndThreadsAreChangedAndNothingElse) {
  if (no_torch()) GTEST_SKIP() << "python3-torch is not installed";
  const std::string job = R"(
import sys, threading, torch
from torch.utils.data import DataLoader
torch.manual_seed(1)
loader = DataLoader(torch.arange(12.0), 2, shuffle=True, num_workers=1)
print([batch.tolist() for batch in loader])
thread = threading.Thread(target=print, args=("thread",))
thread.start()
thread.join()
print(loader.prefetch_factor, "%g" % sys.getswitchinterval(), file=sys.stderr)
)";
  const std::string before = printed(job, {});
  EXPECT_EQ(receipt_.stderr_tail, "2 0.005\n");
  EXPECT_EQ(printed(job, {{"loader-prefetch", "8"}, {"switch-interval", "0.001"}}), before);
  EXPECT_EQ(receipt_.stderr_tail, "8 0.001\n");
  EXPECT_EQ(engaged(), (std::set<std::string>{"loader-prefetch", "switch-interval"}));
  const std::string own = "import sys\nsys.setswitchinterval(0.1)\n" + job;
  EXPECT_EQ(printed(own, {{"switch-interval", "0.001"}}), before);
  EXPECT_EQ(engaged(), std::set<std::string>{});
}

// 26 million instructions are a hundredth of a second, and of the shortest job that is tuned.
TEST_F(FixesTableTest, AFixThatChangesNothingCostsLessThanAHundredth) {
  if (std::system("command -v valgrind >/dev/null") != 0) {
    GTEST_SKIP() << "valgrind, which counts instructions, is not installed";
  }
  const std::string job = R"(
import argparse, inspect, json, logging, os, random, tempfile, threading, time
total = 0
for step in range(200):
    total += sum(i * i for i in range(400))
    with open("job.py") as file:
        total += len(file.read())
print(total)
)";
  const auto instructions = [&](const Inject& inject) {
    write("job.py", job);
    RunOrder made = order({"valgrind", "--tool=cachegrind", "--cache-sim=no",
                           "--cachegrind-out-file=/dev/null", "/usr/bin/python3", "job.py"});
    made.plan.inject = inject;
    const std::string log = run(made).stderr_tail;
    std::string digits;
    const std::size_t at = log.rfind("refs:");
    for (const char c : log.substr(at == log.npos ? log.size() : at)) {
      if (c >= '0' && c <= '9') digits += c;
      if (c == '\n') break;
    }
    return std::atof(digits.c_str());
  };
  const double alone = instructions({});
  ASSERT_GT(alone, 1e7);
  // Engages for each file and gains nothing, as all are in memory.
  const double with = instructions({{"read-ahead", "4"}, {"fsync-late", "on"}});
  EXPECT_LT(with - alone, 26e6);
}

}  // namespace
}  // namespace amdahl::observe
