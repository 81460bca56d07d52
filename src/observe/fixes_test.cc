// Fixes of playbook/inject/ in real Python programs under the supervisor.
#include "observe/fixes.h"

#include <cstdlib>
#include <filesystem>

#include "observe/testing.h"

namespace amdahl::observe {
namespace {

using Inject = std::map<std::string, std::string>;

class FixesTest : public InFolder {
 protected:
  RunOrder python(const std::string& script, const Inject& inject) const {
    write("job.py", script);
    RunOrder made = order({"/usr/bin/python3", "job.py"});
    made.plan.inject = inject;
    return made;
  }
  // What it printed; the receipt is kept.
  std::string printed(const std::string& script, const Inject& inject) {
    receipt_ = run(python(script, inject));
    EXPECT_EQ(receipt_.code, 0) << receipt_.stderr_tail;
    return receipt_.stdout_tail;
  }
  std::int64_t times() const { return receipt_.injected.empty() ? -1 : receipt_.injected[0].times; }
  static bool no_torch() {
    return std::system("/usr/bin/python3 -c 'import torch' 2>/dev/null") != 0;
  }

  model::Receipt receipt_;
};

// Prints how often a sample was made in the main process, and what was learnt of all of them.
std::string loader_job(const std::string& sample, const std::string& loader,
                       const std::string& collate = "None") {
  return R"(
import sys, torch
from torch.utils.data import DataLoader, Dataset, IterableDataset
torch.manual_seed(1)
made = [0]
class Samples(Dataset):
    def __len__(self):
        return 12
    def __getitem__(self, i):
        made[0] += 1
        return )" +
         sample + R"(
class Stream(IterableDataset):
    def __iter__(self):
        return iter(torch.arange(12.0))
def main():
    total = 0.0
    collate = )" +
         collate + R"(
    loader = )" +
         loader + R"(
    for epoch in range(3):
        for batch in loader:
            total = total * 1.01 + float(batch.sum()) + float(torch.rand(1))
    print("made", made[0], "total", repr(total))
if __name__ == "__main__":
    main()
)";
}
constexpr const char* kPlainSample = "torch.full((2,), float(i))";
constexpr const char* kPlainLoader = "DataLoader(Samples(), batch_size=2, shuffle=True)";

std::string total_of(const std::string& printed) { return printed.substr(printed.find("total")); }

TEST_F(FixesTest, WorkersMakeTheSamplesAndTheJobLearnsTheSame) {
  if (no_torch()) GTEST_SKIP() << "python3-torch is not installed";
  const std::string job = loader_job(kPlainSample, kPlainLoader);
  const std::string before = printed(job, {});
  EXPECT_TRUE(before.starts_with("made 36 ")) << before;
  const std::string after = printed(job, {{"loader-workers", "1"}});
  EXPECT_EQ(total_of(after), total_of(before));
  EXPECT_TRUE(after.starts_with("made 6 ")) << "six to see that they are the same twice: " << after;
  EXPECT_EQ(times(), 1);
  EXPECT_EQ(receipt_.injected[0].where, std::vector<std::string>{"job.py:18: 0 → 1 workers"});
  EXPECT_EQ(receipt_.never_runs, model::NeverRuns::kNo);
}

TEST_F(FixesTest, WorkersStartedBySpawnAreTakenAwayAndPersist) {
  if (no_torch()) GTEST_SKIP() << "python3-torch is not installed";
  const std::string job =
      loader_job(kPlainSample,
                 "DataLoader(Samples(), batch_size=6, shuffle=True, num_workers=1, "
                 "multiprocessing_context='spawn')");
  const std::string before = printed(job, {});
  EXPECT_EQ(total_of(printed(job, {{"loader-persistent", ""}})), total_of(before));
  EXPECT_EQ(times(), 1);
  const std::string none = printed(job, {{"loader-workers", "0"}});
  EXPECT_EQ(total_of(none), total_of(before));
  EXPECT_TRUE(none.starts_with("made 42 ")) << none;
}

TEST_F(FixesTest, SamplesAreRememberedAndMadeOnce) {
  if (no_torch()) GTEST_SKIP() << "python3-torch is not installed";
  const std::string job = loader_job(kPlainSample, kPlainLoader);
  const std::string before = printed(job, {});
  const std::string after = printed(job, {{"remember-samples", "64"}});
  EXPECT_EQ(total_of(after), total_of(before));
  EXPECT_TRUE(after.starts_with("made 14 ")) << after;
  EXPECT_EQ(times(), 24);
}

TEST_F(FixesTest, AThreadMakesTheNextBatch) {
  if (no_torch()) GTEST_SKIP() << "python3-torch is not installed";
  const std::string job = loader_job(kPlainSample, kPlainLoader);
  const std::string before = printed(job, {});
  EXPECT_EQ(total_of(printed(job, {{"loader-thread", "2"}})), total_of(before));
  EXPECT_GE(times(), 18);
}

TEST_F(FixesTest, WhatWouldChangeTheResultsIsRefused) {
  if (no_torch()) GTEST_SKIP() << "python3-torch is not installed";
  struct Case {
    const char* name;
    std::string job;
    Inject inject;
    const char* because;
  };
  const std::string random = loader_job("torch.rand(2) + i", kPlainLoader);
  const std::string counting = loader_job(
      kPlainSample, "DataLoader(Samples(), batch_size=2, shuffle=True, collate_fn=collate)",
      "(lambda seen: lambda items: (seen.append(1), torch.stack(items))[1])([])");
  const std::string stream = loader_job(kPlainSample, "DataLoader(Stream(), batch_size=2)");
  const Case cases[] = {
      {"random samples", random, {{"loader-workers", "1"}}, "it draws random numbers (torch)"},
      {"random samples kept", random, {{"remember-samples", "9"}}, "it draws random numbers"},
      {"random samples ahead", random, {{"loader-thread", "2"}}, "it draws random numbers"},
      {"stateful collate", counting, {{"loader-workers", "1"}}, "it changes the object"},
      {"a stream", stream, {{"loader-workers", "1"}}, "the data set is a stream"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string before = printed(c.job, {});
    EXPECT_EQ(total_of(printed(c.job, c.inject)), total_of(before));
    EXPECT_EQ(times(), 0);
    EXPECT_EQ(receipt_.never_runs, model::NeverRuns::kDidNotEngage);
    EXPECT_NE(receipt_.reason.find(c.because), std::string::npos) << receipt_.reason;
  }
}

// Trains, saves, forces its log to the disk, maps a file for each step and evaluates.
constexpr const char* kTraining = R"(
import hashlib, os, time
def main():
    import torch  # Late.
    import numpy
    torch.manual_seed(0)
    model = torch.nn.Sequential(*[torch.nn.Linear(16, 16) for _ in range(8)])
    optimizer = torch.optim.AdamW(model.parameters())
    numpy.arange(64, dtype=numpy.float32).tofile("numbers")
    log = open("log", "w")
    for step in range(12):
        numbers = numpy.memmap("numbers", dtype=numpy.float32, mode="r")
        loss = model(torch.tensor(numbers[step:step + 16])).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log.write("%r\n" % float(loss))
        log.flush()
        os.fsync(log.fileno())
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "new")
        os.replace("new", "checkpoint")
    model.eval()
    quiet = model(torch.ones(16))
    for name in ("log", "checkpoint"):
        print(name, hashlib.sha256(open(name, "rb").read()).hexdigest())
    print("sum", repr(float(quiet.sum())))
main()
)";

TEST_F(FixesTest, ATrainingLeavesTheSameBytesWithEachOfThem) {
  if (no_torch()) GTEST_SKIP() << "python3-torch is not installed";
  const std::string before = printed(kTraining, {});
  const std::pair<const char*, std::int64_t> fixes[] = {
      {"checkpoint-thread", 12}, {"fsync-late", 11},     {"memmap-once", 11},
      {"optimizer-foreach", 12}, {"zero-grad-none", 12}, {"no-grad", 1},
  };
  for (const auto& [fix, least] : fixes) {
    SCOPED_TRACE(fix);
    EXPECT_EQ(printed(kTraining, {{fix, ""}}), before);
    // Beside busy neighbours a second goes by now and then.
    EXPECT_GE(times(), fix == std::string("fsync-late") ? 1 : least);
  }
  EXPECT_EQ(printed(kTraining, {{"checkpoint-thread", ""}, {"memmap-once", ""}, {"no-grad", ""}}),
            before);
  EXPECT_EQ(receipt_.injected.size(), 3U);
}

TEST_F(FixesTest, ABackwardPassThroughWhatRecordedNothingFails) {
  if (no_torch()) GTEST_SKIP() << "python3-torch is not installed";
  const model::Receipt receipt = run(python(R"(
import torch
model = torch.nn.Linear(2, 2).eval()
model(torch.ones(2)).sum().backward()
)",
                                            {{"no-grad", ""}}));
  EXPECT_EQ(receipt.code, 1);
  EXPECT_NE(receipt.stderr_tail.find("does not require grad"), std::string::npos);
}

// Counts the writes of its own process, as the kernel does.
constexpr const char* kPrints = R"(
import logging, os, sys
logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(message)s")
def writes():
    return int(open("/proc/self/io").read().split("syscw: ")[1].split()[0])
before = writes()
for line in range(300):
    print("line", line, flush=True)
    logging.info("log %d", line)
few = writes() - before < 60
if os.fork() == 0:
    print("child", flush=True)
    os._exit(0)
os.wait()
os.system("echo shell")
print("few" if few else "many")
if len(sys.argv) > 1:
    raise ValueError("crash")
)";

TEST_F(FixesTest, PrintedLinesAreWrittenSeldomAndNoneIsLost) {
  std::string before = printed(kPrints, {});
  EXPECT_TRUE(before.ends_with("child\nshell\nmany\n")) << before;
  const std::string log = receipt_.stderr_tail;
  std::string after = printed(kPrints, {{"log-buffer", ""}});
  EXPECT_GE(times(), 600);
  before.erase(before.find("many"));
  EXPECT_EQ(after, before + "few\n");
  EXPECT_EQ(receipt_.stderr_tail, log);
  RunOrder crash = python(kPrints, {{"log-buffer", ""}});
  crash.plan.argv.emplace_back("crash");
  const model::Receipt crashed = run(crash);
  EXPECT_EQ(crashed.code, 1);
  EXPECT_EQ(crashed.stdout_tail, after);
  EXPECT_TRUE(crashed.stderr_tail.ends_with("ValueError: crash\n")) << crashed.stderr_tail;
}

TEST_F(FixesTest, GarbageIsCollectedLessOften) {
  constexpr const char* kGarbage = R"(
import gc
for _ in range(300000):
    a = []
    a.append(a)
print("many" if gc.get_stats()[0]["collections"] > 100 else "few")
)";
  EXPECT_EQ(printed(kGarbage, {}), "many\n");
  EXPECT_EQ(printed(kGarbage, {{"gc-seldom", ""}}), "few\n");
  EXPECT_GE(times(), 2);
}

TEST_F(FixesTest, WhatNeverHappensDoesNotEngage) {
  struct Case {
    const char* name;
    std::vector<std::string> argv;
    const char* because;
  };
  const std::string not_taken = "no Python process of the job loaded it";
  const Case cases[] = {
      {"without torch", {"/usr/bin/python3", "-c", "print(1)"}, "the job never runs the code that"},
      {"isolated", {"/usr/bin/python3", "-I", "-c", "print(1)"}, not_taken.c_str()},
      {"no Python", {"true"}, not_taken.c_str()},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    RunOrder made = order(c.argv);
    made.plan.inject = {{"loader-workers", "2"}};
    const model::Receipt receipt = run(made);
    EXPECT_EQ(receipt.code, 0);
    ASSERT_EQ(receipt.injected.size(), 1U);
    EXPECT_EQ(receipt.injected[0].times, 0);
    EXPECT_EQ(receipt.never_runs, model::NeverRuns::kDidNotEngage);
    EXPECT_TRUE(receipt.reason.starts_with("the injection did not engage: loader-workers: "))
        << receipt.reason;
    EXPECT_NE(receipt.reason.find(c.because), std::string::npos) << receipt.reason;
  }
}

TEST_F(FixesTest, AFolderWithAColonIsNoObstacle) {
  RunOrder made = python("import gc\ngc.collect()\n", {{"gc-seldom", ""}});
  made.out_dir = path("r-stack:1/B");
  const model::Receipt receipt = run(made);
  ASSERT_EQ(receipt.injected.size(), 1U);
  EXPECT_GE(receipt.injected[0].times, 1) << receipt.reason;
}

TEST_F(FixesTest, TheJobsOwnSignalHandlerStays) {
  const std::string job = R"(
import os, signal
def handler(number, frame):
    print("told", number, flush=True)
signal.signal(signal.SIGTERM, handler)
os.kill(os.getpid(), signal.SIGTERM)
print("went on", signal.getsignal(signal.SIGTERM) is handler)
)";
  EXPECT_EQ(printed(job, {{"log-buffer", ""}, {"gc-seldom", ""}}), "told 15\nwent on True\n");
}

// They measure what a cause costs: the job runs to its end without it.
TEST_F(FixesTest, CeilingsTakeACauseOutOfTheJob) {
  if (no_torch()) GTEST_SKIP() << "python3-torch is not installed";
  const std::string job = loader_job(kPlainSample, kPlainLoader) +
                          "    torch.save({'a': 1}, 'model.pt')\n"
                          "    import logging\n    logging.warning('told')\n"
                          "    sys.__stdout__.write('made %d' % made[0])\n";
  EXPECT_NE(printed(job, {}).find("made 36"), std::string::npos);
  EXPECT_TRUE(printed(job, {{"ceiling-input", ""}}).ends_with("made 8"))
      << "four batches are made, and replayed 14 times: " << receipt_.stdout_tail;
  EXPECT_EQ(times(), 14);
  EXPECT_EQ(printed(job, {{"ceiling-logging", ""}}), "made 36");
  EXPECT_EQ(receipt_.stderr_tail, "");
  EXPECT_GE(times(), 2);
  printed(job, {{"ceiling-checkpoint", ""}});
  EXPECT_EQ(times(), 1);
  EXPECT_EQ(std::filesystem::file_size(path("model.pt")), 0U);
}

TEST_F(FixesTest, EveryFixHasAName) {
  const std::vector<std::string> names = fix_names();
  EXPECT_GE(names.size(), 12U);
  EXPECT_EQ(names.front(), "affinity") << "those that only measure are not among them";
}

TEST_F(FixesTest, AnyNumberThatIsPrintedCanBeAQuality) {
  RunOrder made = shell("echo 'val loss: 2.5'; echo 'val loss: -1.25e-1'; echo 'acc nan'");
  made.quality = {{"loss", 0.1, false, R"(val loss: (\S+))"}, {"acc", 0, true, R"(acc (\w+))"}};
  const model::Receipt receipt = run(made);
  EXPECT_EQ(receipt.metrics, (std::map<std::string, double>{{"loss", -0.125}}));
  EXPECT_EQ(
      receipt.report_problems,
      std::vector<std::string>{"a quality's pattern matched \"nan\", which is not a valid number"});
}

}  // namespace
}  // namespace amdahl::observe
