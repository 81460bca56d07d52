// Fixes that spare a job calls: files read again, lists of arrays, late imports, layouts.
#include <cstdlib>

#include "observe/fixes.h"
#include "observe/testing.h"

namespace amdahl::observe {
namespace {

using Inject = std::map<std::string, std::string>;

class FixesCallsTest : public InjectedJob {};

constexpr const char* kReads = R"(
import json, sys, time
import numpy as np
rows = [[i * j * 0.5 for j in range(40)] for i in range(400)]
with open("t.csv", "w") as file:
    file.write("\n".join(",".join(map(str, row)) for row in rows))
with open("t.json", "w") as file:
    json.dump({"rows": rows, "name": "x"}, file)
total, began = 0.0, time.process_time()
for i in range(40):
    table = np.loadtxt("t.csv", delimiter=",")
    table += i
    with open("t.json") as file:
        document = json.load(file)
    document["rows"][0][1] = i
    total += table.sum() + sum(map(sum, document["rows"]))
    if i == 20:
        np.savetxt("t.csv", table * 2, delimiter=",")
print(repr(total))
print(time.process_time() - began, file=sys.stderr)
)";

TEST_F(FixesCallsTest, AFileIsReadOnceUntilItIsWritten) {
  const std::string before = printed(kReads, {});
  const double slow = measured();
  EXPECT_EQ(printed(kReads, {{"read-once", "64"}}), before);
  EXPECT_EQ(times(), 38 + 19 + 17) << "all but the first two of the text and of both tables";
  EXPECT_LT(measured(), 0.75 * slow) << "about half is its own arithmetic";
}

TEST_F(FixesCallsTest, WhatIsReadOnceOrByTheJobsOwnCodeIsLeftAlone) {
  printed("import json\nprint([json.loads('[%d]' % i) for i in range(9)])\n", {{"read-once", "9"}});
  EXPECT_EQ(times(), 0);
  EXPECT_EQ(receipt_.never_runs, model::NeverRuns::kDidNotEngage);
  const std::string stateful = R"(
import json
seen = []
def note(pairs):
    seen.append(pairs)
    return dict(pairs, at=len(seen))
print([json.loads('{"a": 1}', object_hook=note) for i in range(5)], len(seen))
)";
  const std::string before = printed(stateful, {});
  EXPECT_EQ(printed(stateful, {{"read-once", "9"}}), before) << "its hook counts the calls";
  EXPECT_EQ(times(), 0);
}

constexpr const char* kParses = R"(
import json, sys, time
import numpy as np
began = time.process_time()
table = np.genfromtxt("table.txt", OPTIONS)
words = json.load(open("words.json"))
short = json.loads("[1, 2.5, null]")
print(table.shape, table.dtype, float(table.sum()), len(words), words[7], short)
table[0] = words[0] = 0
print(time.process_time() - began, file=sys.stderr)
)";

std::string parses(const std::string& options) {
  std::string job = kParses;
  return job.replace(job.find("OPTIONS"), 7, options);
}

TEST_F(FixesCallsTest, WhatWasParsedIsKeptForTheNextRun) {
  if (std::system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0) {
    GTEST_SKIP() << "python3-numpy is not installed";
  }
  const std::string data =
      "import json\nopen('table.txt', 'w').write('\\n'.join('%d %d.5 7' % (i, i) for i in "
      "range(250000)))\njson.dump(['word %d' % i for i in range(600000)], open('words.json', "
      "'w'))\n";
  printed(data, {});
  const std::string job = parses("ndmin=2");
  const std::string before = printed(job, {});
  const double slow = measured();
  const Inject kept = {{"parsed-kept", "64"}};
  EXPECT_EQ(printed(job, kept), before);
  EXPECT_EQ(times(), 2) << "both are kept";
  EXPECT_EQ(printed(job, kept), before) << "what the job does to its values is not kept";
  EXPECT_EQ(times(), 2);
  EXPECT_LT(measured(), 0.5 * slow);
  EXPECT_EQ(receipt_.injected[0].where[0], "job.py:5: genfromtxt");
  // Other options and other bytes are other values; a function of the job's may do anything.
  const std::string other = parses("usecols=(0, 1)");
  EXPECT_EQ(printed(other, kept), printed(other, {}));
  const std::string own = parses("converters={0: lambda text: float(text) + 1}");
  const std::string converted = printed(own, {});
  printed(own, kept);
  EXPECT_EQ(printed(own, kept), converted);
  EXPECT_EQ(times(), 1) << "the words alone";
  printed("open('table.txt', 'a').write('\\n1 1 1')\n", {});
  EXPECT_EQ(printed(job, kept), printed(job, {}));
}

TEST_F(FixesCallsTest, WhatIsSmallIsParsedAsEver) {
  printed("import json\nprint([json.loads('[%d]' % i) for i in range(9)])\n",
          {{"parsed-kept", "9"}});
  EXPECT_EQ(times(), 0);
  EXPECT_EQ(receipt_.never_runs, model::NeverRuns::kDidNotEngage);
}

TEST_F(FixesCallsTest, AListOfArraysBecomesOneArray) {
  if (no_torch()) GTEST_SKIP() << "python3-torch is not installed";
  const std::string job = R"(
import sys, time, torch, numpy as np
@torch.jit.script
def scripted(x: int):
    return torch.tensor([x, x])
total, began = float(scripted(2).sum()), time.process_time()
for i in range(30):
    x = torch.tensor([np.arange(2000, dtype=np.float64) * k for k in range(50)])
    y = torch.tensor([np.arange(3), np.arange(3)], dtype=torch.float32)
    total += float(x.sum()) + float(y.sum())
print(repr(total), x.dtype, y.dtype)
print(time.process_time() - began, file=sys.stderr)
)";
  const std::string before = printed(job, {});
  const double slow = measured();
  EXPECT_EQ(printed(job, {{"arrays-to-tensor", ""}}), before);
  EXPECT_EQ(times(), 58) << "each kind is made both ways once";
  EXPECT_LT(measured(), 0.5 * slow);
  const std::string mixed =
      "import torch, numpy as np\n"
      "for i in range(5):\n"
      "    x = torch.tensor([np.arange(3.0), np.arange(3)])\n"
      "    y = torch.tensor([[1, 2], [3, 4]])\n"
      "print(x, y)\n";
  const std::string as_it_is = printed(mixed, {});
  EXPECT_EQ(printed(mixed, {{"arrays-to-tensor", ""}}), as_it_is);
  EXPECT_EQ(times(), 0) << "parts of several types, and plain numbers";
}

constexpr const char* kConvolutions = R"(
import torch
torch.manual_seed(1)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3)
        self.last = torch.nn.Linear(8 * 14 * 14, 4)
    def forward(self, x):
        return self.last(torch.relu(self.conv(x)).view(x.size(0), -1))
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.01)
if ANOMALY:
    torch.autograd.set_detect_anomaly(True)
for step in range(10):
    optimizer.zero_grad()
    x, y = torch.randn(4, 3, 16, 16), torch.randint(0, 4, (4,))
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
last = net.conv.weight.is_contiguous(memory_format=torch.channels_last)
print("%.3f" % float(loss), last, torch.is_anomaly_enabled())
)";

TEST_F(FixesCallsTest, LayoutAndChecksOfATrainingAreThoseThatAreFast) {
  if (no_torch()) GTEST_SKIP() << "python3-torch is not installed";
  const std::string job = std::string("ANOMALY = True\n") + kConvolutions;
  const std::string before = printed(job, {});
  const std::string loss = before.substr(0, before.find(' '));
  EXPECT_EQ(before, loss + " False True\n");
  EXPECT_EQ(printed(job, {{"channels-last", ""}}), loss + " True True\n");
  EXPECT_EQ(times(), 10);
  EXPECT_EQ(printed(job, {{"anomaly-off", ""}}), loss + " False False\n");
  EXPECT_EQ(times(), 1);
  printed(std::string("ANOMALY = False\n") + kConvolutions, {{"anomaly-off", ""}});
  EXPECT_EQ(times(), 0);
  printed("import torch\ntorch.nn.Linear(2, 2)(torch.randn(1, 2))\n", {{"channels-last", ""}});
  EXPECT_EQ(times(), 0) << "no convolution";
}

TEST_F(FixesCallsTest, ALargeModuleIsRunWhenTheJobAsksItForSomething) {
  write("seaborn.py", "print('run')\nvalue = 3\n");
  const Inject late = {{"imports-late", ""}};
  EXPECT_EQ(printed("import seaborn\nprint('end')\n", late), "end\n");
  EXPECT_EQ(times(), 1);
  EXPECT_EQ(printed("import seaborn\nprint('begin')\nprint(seaborn.value)\n", late),
            "begin\nrun\n3\n");
  EXPECT_EQ(printed("from seaborn import value\nprint(value)\n", late), "run\n3\n");
  EXPECT_EQ(printed("import json\nprint('end')\n", late), "end\n");
  EXPECT_EQ(times(), 0);
}

}  // namespace
}  // namespace amdahl::observe
