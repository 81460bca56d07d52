// Fixes that move work beside the job: files read ahead, boards in a thread, children's CPUs; and
// numbers fetched once.
#include <thread>

#include "observe/fixes.h"
#include "observe/testing.h"

namespace amdahl::observe {
namespace {

using Inject = std::map<std::string, std::string>;

class FixesMovedTest : public InjectedJob {
 protected:
  bool is_void() const { return receipt_.never_runs == model::NeverRuns::kDidNotEngage; }
};

constexpr const char* kFiles = R"(
import os, random, sys, time
os.makedirs("files", exist_ok=True)
names = ["%03d" % i for i in range(24)]
for name in names:
    with open("files/" + name, "wb") as file:
        file.write(name.encode() * 100000)
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
def is_cached(name):
    file = os.open("files/" + name, os.O_RDONLY)
    try:
        return os.preadv(file, [bytearray(1)], 299999, os.RWF_NOWAIT)
    except BlockingIOError:
        return 0
    finally:
        os.close(file)
HOW
cached, total = 0, 0
for name in names:
    time.sleep(0.02)
    cached += is_cached(name)
    with open("files/" + name, "rb") as file:
        total += sum(file.read()[:9])
print(total)
print(cached, file=sys.stderr)
)";

std::string files(const std::string& how) {
  std::string job = kFiles;
  return job.replace(job.find("HOW"), 3, how);
}

TEST_F(FixesMovedTest, FilesThatAreReadInOrderAreInMemoryBefore) {
  const Inject ahead = {{"read-ahead", "4"}};
  const std::string before = printed(files(""), {});
  if (measured() > 0) GTEST_SKIP() << "this file system keeps what it is told to drop";
  EXPECT_EQ(printed(files(""), ahead), before);
  EXPECT_GE(times(), 12) << "all but the first few; fewer beside busy neighbours";
  EXPECT_GE(measured(), 12);
  EXPECT_EQ(receipt_.injected[0].where[0].substr(0, 9), "job.py:24");
  // Nobody may take what a pipe has: 011 has a reader of its own.
  const std::string pipe =
      "os.mkfifo('files/0115')\nimport threading\ngot = []\n"
      "reader = os.open('files/0115', os.O_RDONLY | os.O_NONBLOCK)\n"
      "writer = os.open('files/0115', os.O_WRONLY)\nos.write(writer, b'mine')\n";
  const std::string with_pipe = files(pipe) + "print(os.read(reader, 9))\n";
  EXPECT_EQ(printed(with_pipe, ahead), before + "b'mine'\n");
  EXPECT_GE(times(), 10);
}

TEST_F(FixesMovedTest, FilesInNoOrderAreLeftAlone) {
  const std::string job = files("random.seed(4)\nrandom.shuffle(names)");
  const std::string before = printed(job, {});
  EXPECT_EQ(printed(job, {{"read-ahead", "4"}}), before);
  EXPECT_EQ(times(), 0);
  EXPECT_TRUE(is_void());
  // A second pass in the same order is known,
  printed(files("random.seed(4)\nrandom.shuffle(names)\nnames *= 2\n"), {{"read-ahead", "4"}});
  EXPECT_TRUE(is_void()) << "but all are in memory by then: nothing is to be gained";
}

// A stand-in for tensorboardX: an event takes 5 ms to make.
constexpr const char* kWriter = R"(
import time
class SummaryWriter:
    def __init__(self, path):
        self.file = open(path, "w")
    def add_scalar(self, tag, value, step=None, walltime=None):
        time.sleep(0.005)
        self.file.write("%s %r %s\n" % (tag, value, step))
    def add_histogram(self, tag, values, step=None):
        self.file.write("%r\n" % (list(values),))
        self.add_scalar(tag, len(values), step)
    def flush(self):
        self.file.flush()
    def close(self):
        self.file.close()
)";
constexpr const char* kBoards = R"(
import hashlib, os, sys, time
from tensorboardX import SummaryWriter
writer = SummaryWriter("events")
class Counts:
    seen = 0
    def __repr__(self):
        self.seen += 1
        return "seen %d" % self.seen
values, odd, spent = [0.0] * 5, Counts(), 0.0
for step in range(20):
    values[step % 5] = float(step)
    began = time.perf_counter()
    writer.add_histogram("h", VALUES, step)
    writer.add_scalar("s", VALUE, step)
    spent += time.perf_counter() - began
    time.sleep(0.012)
if os.fork() == 0:
    os._exit(0)
os.wait()
END
print(spent, file=sys.stderr)
)";

std::string boards(const std::string& values, const std::string& value, const std::string& end) {
  std::string job = kBoards;
  job.replace(job.find("VALUES"), 6, values);
  job.replace(job.find("VALUE,"), 6, value + ",");
  return job.replace(job.find("END"), 3, end);
}

TEST_F(FixesMovedTest, BoardsAreWrittenByAThreadInTheSameOrder) {
  write("tensorboardX/__init__.py", "from .writer import SummaryWriter\n");
  write("tensorboardX/writer.py", kWriter);
  const Inject thread = {{"boards-thread", ""}};
  constexpr const char* kShown =
      "writer.close()\nprint(hashlib.sha256(open('events', 'rb').read()).hexdigest())";
  const auto events = [&] {
    const auto text = os::read_file(path("events"));
    return text ? *text : "cannot be read";
  };
  const std::string plain = boards("values", "step / 2", kShown);
  const std::string before = printed(plain, {});
  const double slow = measured();
  EXPECT_GE(slow, 0.2) << "40 events of 5 ms";
  const std::string lines = events();
  EXPECT_EQ(printed(plain, thread), before) << "the list that it changes is copied";
  EXPECT_EQ(times(), 40);
  EXPECT_LT(measured(), 0.5 * slow);
  // Nobody closes it; Python does at the end.
  printed(boards("values", "step / 2", ""), thread);
  EXPECT_EQ(events(), lines);
  // Objects of the job's own count who looks at them.
  const std::string own = boards("values", "odd", kShown);
  const std::string counted = printed(own, {});
  EXPECT_EQ(printed(own, thread), counted);
  EXPECT_EQ(times(), 20) << "the histograms alone";
  EXPECT_NE(receipt_.injected[0].refused.find("Counts cannot be copied"), std::string::npos);
  printed("import tensorboardX\nprint('no events')\n", thread);
  EXPECT_TRUE(is_void());
}

constexpr const char* kBound = R"(
import multiprocessing, os, sys
def allowed():
    return open("/proc/self/status").read().split("Cpus_allowed:")[1].split()[0]
def work(_):
    BIND
    return len(os.sched_getaffinity(0)), bin(int(allowed().replace(",", ""), 16)).count("1")
if __name__ == "__main__":
    NARROW
    with multiprocessing.get_context("HOW").Pool(1) as pool:
        told, real = pool.map(work, [0])[0]
    print("told", told, "own", len(os.sched_getaffinity(0)))
    print(real, file=sys.stderr)
)";

std::string bound(const std::string& narrow, const std::string& bind, const std::string& how) {
  std::string job = kBound;
  job.replace(job.find("BIND"), 4, bind);
  job.replace(job.find("NARROW"), 6, narrow);
  return job.replace(job.find("HOW"), 3, how);
}

TEST_F(FixesMovedTest, ForkedWorkersOfABoundJobMayUseEveryCpu) {
  const auto cpus = static_cast<double>(std::thread::hardware_concurrency());
  if (cpus < 2) GTEST_SKIP() << "there is one CPU";
  const Inject all = {{"affinity", ""}};
  constexpr const char* kFirst = "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})";
  const std::string job = bound(kFirst, "pass", "fork");
  const std::string before = printed(job, {});
  EXPECT_EQ(before, "told 1 own 1\n");
  EXPECT_EQ(measured(), 1);
  EXPECT_EQ(printed(job, all), before) << "they are told what they would have had";
  EXPECT_EQ(measured(), cpus);
  EXPECT_EQ(times(), 1);
  // Who is bound to nothing, binds itself, or is another program.
  printed(bound("pass", "pass", "fork"), all);
  EXPECT_TRUE(is_void());
  EXPECT_EQ(printed(bound(kFirst, kFirst, "fork"), all), before);
  EXPECT_EQ(measured(), 1);
  EXPECT_EQ(printed(bound(kFirst, "pass", "spawn"), all), before);
  EXPECT_EQ(measured(), 1);
  EXPECT_TRUE(is_void());
}

constexpr const char* kScalars = R"(
import sys
def main():
    import torch  # Late.
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    total = 0.0
    with torch.autograd.profiler.profile() as profile:
        for step in range(10):
            loss = model(torch.randn(3, 4)).pow(2).mean()
            total += loss.item()
            text = "%r %.4f" % (loss.item(), loss.item())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(repr(total), text)
    print(sum(row.count for row in profile.key_averages()
              if row.key == "aten::_local_scalar_dense"), file=sys.stderr)
main()
)";

// Each writes to a number's memory in another way.
constexpr const char* kWritten = R"(
import torch
def made():
    tensor = torch.ones(1, requires_grad=True) * 2
    return tensor, tensor.item()
a, before = made()
with torch.no_grad():
    a.add_(1)
print(before, a.item())
a, before = made()
a.data.fill_(5)
print(before, a.item())
a, before = made()
a.data = torch.zeros(1)
print(before, a.item())
a, before = made()
a.detach().numpy()[0] = 9
print(before, a.item())
b = torch.ones(1)
print(b.item(), b.item(), float(torch.tensor(3)))
)";

TEST_F(FixesMovedTest, ANumberIsFetchedOnceUntilItChanges) {
  if (no_torch()) GTEST_SKIP() << "python3-torch is not installed";
  const Inject once = {{"scalars-once", ""}};
  const std::string before = printed(kScalars, {});
  EXPECT_EQ(measured(), 30);
  EXPECT_EQ(printed(kScalars, once), before);
  EXPECT_EQ(measured(), 10);
  EXPECT_EQ(times(), 20);
  EXPECT_EQ(receipt_.injected[0].where[0], "job.py:13");
  EXPECT_EQ(printed(kWritten, once), "2.0 3.0\n2.0 5.0\n2.0 0.0\n2.0 9.0\n1.0 1.0 3.0\n");
  EXPECT_EQ(times(), 0);
  EXPECT_TRUE(is_void());
}

}  // namespace
}  // namespace amdahl::observe
