#include "code/finding.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "code/rule.h"
#include "source_dir.h"

namespace amdahl::code {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = AMDAHL_SOURCE_DIR;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<Source> example(const std::string& folder) {
  std::vector<Source> sources;
  for (const auto& entry : fs::directory_iterator(kRoot / "examples" / folder)) {
    const std::string path = fs::relative(entry.path(), kRoot).string();
    if (language_of(path)) sources.push_back({path, read(entry.path())});
  }
  std::ranges::sort(sources, {}, &Source::path);
  return sources;
}

// "rule@line" of each finding, in order.
std::string found(std::string_view path, std::string_view text) {
  const std::vector<Source> sources = {{std::string(path), std::string(text)}};
  std::vector<std::string> words;
  for (const Finding& finding : analyse(sources).findings) {
    words.push_back(fmt::format("{}@{}", finding.rule, finding.line));
  }
  return join(words, " ");
}

struct FindingCase {
  const char* name;
  const char* source;
  const char* want;
};

constexpr FindingCase kPython[] = {
    {"a loader without workers", "loader = DataLoader(data, batch_size=8)\n",
     "loader-workers@1 loader-pin@1"},
    {"a loader that is right",
     "l = DataLoader(d, num_workers=4, pin_memory=True, persistent_workers=True,\n"
     "               prefetch_factor=4)\n",
     ""},
    {"a loader with workers alone", "l = DataLoader(d, num_workers=4, pin_memory=True)\n",
     "loader-persistent@1 loader-prefetch@1"},
    {"a value fetched in the step",
     "for batch in loader:\n  loss = model(batch)\n  total += loss.item()\n", "scalar-sync@3"},
    {"a value fetched after the loop",
     "for batch in loader:\n  loss = model(batch)\ntotal = loss.item()\n", ""},
    {"a value fetched for a log, directly",
     "for batch in loader:\n  loss = model(batch)\n  print(f'loss {loss.item()}')\n",
     "logging@3 logged-scalar@3"},
    {"a value fetched for a log, by a name",
     "for batch in loader:\n  x = model(batch)\n  loss = x.mean().item()\n"
     "  logger.info('loss %f', loss)\n",
     "logged-scalar@3 logging@4"},
    {"logits are no logs",
     "for batch in loader:\n  logits = model(batch)\n  y = logits.argmax(1)\n"
     "  z = log_probs.sum() + F.log_softmax(logits) + x.log()\n",
     ""},
    {"a check in a condition",
     "for batch in loader:\n  out = model(batch)\n  if torch.isnan(out).any():\n    break\n",
     "range-check@3"},
    {"an assertion",
     "for batch in loader:\n  out = model(batch)\n  assert torch.isfinite(out).all()\n",
     "range-check@3"},
    {"a check of numbers", "for batch in loader:\n  model(batch)\n  if math.isnan(lr): break\n",
     ""},
    {"builtins are no tensors",
     "for batch in loader:\n  model(batch)\n  if any(flags) or all(flags): break\n", ""},
    {"synchronisation", "for batch in loader:\n  model(batch)\n  torch.cuda.synchronize()\n",
     "synchronize@3"},
    {"synchronisation outside", "model(x)\ntorch.cuda.synchronize()\n", ""},
    {"through a function",
     "def step(batch):\n  return model(batch).item()\n\nwhile True:\n  step(next(batches))\n",
     "scalar-sync@2"},
    {"through a method",
     "class Trainer:\n  def step(self, x):\n    return self.model(x).cpu()\n"
     "  def run(self, loader):\n    for x in loader:\n      self.step(x)\n",
     "scalar-sync@3"},
    {"a checkpoint in the loop",
     "for batch in loader:\n  model(batch)\n  torch.save(model.state_dict(), 'x')\n",
     "checkpoint@3"},
    {"a checkpoint after each pass",
     "for epoch in range(3):\n  for batch in loader:\n    model(batch)\n"
     "  torch.save(state, 'x')\n",
     "checkpoint@4"},
    {"threads by call and by variable",
     "import os\nos.environ['OMP_NUM_THREADS'] = '4'\ntorch.set_num_threads(4)\n"
     "os.environ.setdefault('MKL_NUM_THREADS', '4')\n",
     "thread-variable@2 thread-count@3 thread-default@4"},
    {"decoding for each item",
     "class Data:\n  def __getitem__(self, i):\n    return read(self.paths[i])\n"
     "def read(path):\n  return Image.open(path)\n",
     "decode@5"},
    {"decoding once", "image = Image.open('x.png')\n", ""},
    {"allocation in the step",
     "for batch in loader:\n  mask = torch.zeros(8)\n  model(batch, mask)\n", "allocation@2"},
    {"allocation before it", "mask = torch.zeros(8)\nfor batch in loader:\n  model(batch, mask)\n",
     ""},
    {"a copy that waits", "for batch in loader:\n  batch = batch.to('cuda')\n  model(batch)\n",
     "blocking-copy@2"},
    {"a copy that does not",
     "for batch in loader:\n  batch = batch.to('cuda', non_blocking=True)\n  model(batch)\n", ""},
    {"a conversion is no copy to a device",
     "for batch in loader:\n  batch = batch.to(torch.float16)\n  model(batch)\n", ""},
    {"copies in a comprehension",
     "for batch in loader:\n  model(batch)\n  best = {k: v.clone().double() for k, v in "
     "model.state_dict().items()}\n",
     "needless-copy@3"},
    {"a copy that is recorded", "for batch in loader:\n  x = model(batch).clone().detach()\n",
     "clone-detach@2"},
    {"a copy where nothing is recorded",
     "with torch.inference_mode():\n  for batch in loader:\n    x = "
     "model(batch).clone().detach()\n",
     ""},
    {"evaluation with gradients", "model.eval()\nfor batch in loader:\n  model(batch)\n",
     "inference-mode@2"},
    {"evaluation without",
     "model.eval()\nwith torch.no_grad():\n  for batch in loader:\n    model(batch)\n", ""},
    {"evaluation without, by a decorator",
     "@torch.inference_mode()\ndef evaluate():\n  model.eval()\n  for batch in loader:\n"
     "    model(batch)\n",
     ""},
    {"training", "model.eval()\nfor batch in loader:\n  model(batch).sum().backward()\n", ""},
    {"the garbage collector", "for batch in loader:\n  model(batch)\n  gc.collect()\n",
     "garbage@3"},
    {"sleeping", "for batch in loader:\n  model(batch)\n  time.sleep(0.1)\n", "sleep@3"},
    {"processes", "for batch in loader:\n  model(batch)\n  subprocess.run(['ls'])\n", "process@3"},
    {"imports in the step", "for batch in loader:\n  import json\n  json.dumps(model(batch))\n",
     "import-in-step@2"},
    {"imports that nobody uses", "import a\nimport b.c\nimport d.e\nfrom f import g as h\nb.c.x\n",
     "unused-import@1 unused-import@3 unused-import@4"},
    {"imports in a line with one that is used",
     "import os, torch\nfrom a import (b,\n  c)\nimport d, e\ntorch.x(b)\n", "unused-import@4"},
    {"imports that are wanted", "import a  # noqa: F401\nfrom b import (\n  c)  # noqa\nimport d\n",
     "unused-import@4"},
    {"a function imports for itself", "def f():\n  import a  # noqa: F401\n", "unused-import@2"},
    {"imports for those who import it", "from a import b\n__all__ = ['b']\n", ""},
    {"a loader whose workers go by their place", "l = DataLoader(d, 8, True, None, None, 4)\n",
     "loader-persistent@1 loader-prefetch@1 loader-pin@1"},
    {"a loader that is pinned by place", "l = DataLoader(d, 8, True, None, None, 0, None, True)\n",
     "loader-workers@1"},
    {"files that are all read first", "for path in paths:\n  hashlib.sha256(path)\n",
     "startup-reads@2"},
    {"a log forced to disk", "for batch in loader:\n  model(batch)\n  os.fsync(log.fileno())\n",
     "fsync@3"},
    {"what a log is asked writes nothing",
     "for batch in loader:\n  logs.append(model(batch))\n  logger.setLevel(3)\n  log.close()\n",
     ""},
    {"a checkpoint forced to disk",
     "def save(file):\n  os.fsync(file)\nfor batch in loader:\n  model(batch)\n  save(f)\n",
     "checkpoint-fsync@2"},
    {"what a loop goes over is read once", "for x in [y.item() for y in model(z)]:\n  w(x)\n", ""},
};

TEST(Finding, PythonHabitsAreFoundOnTheirLines) {
  for (const FindingCase& c : kPython) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(found("job.py", c.source), c.want);
  }
}

constexpr FindingCase kCpp[] = {
    {"waiting in the step",
     "void f() {\n  for (;;) {\n    clEnqueueNDRangeKernel(q, k);\n    clFinish(q);\n  }\n}\n",
     "device-wait@4"},
    {"waiting after it",
     "void f() {\n  for (;;) {\n    clEnqueueNDRangeKernel(q, k);\n  }\n  clFinish(q);\n}\n", ""},
    {"a launch of CUDA",
     "void f() {\n  while (more) {\n    add<<<1, 2>>>(x);\n    cudaDeviceSynchronize();\n  "
     "}\n}\n",
     "device-wait@4"},
    {"reading that waits",
     "void f() {\n  while (a) clEnqueueReadBuffer(q, b, CL_TRUE, 0, 4, p, 0, 0, 0);\n}\n",
     "blocking-read@2"},
    {"reading that does not",
     "void f() {\n  while (a) clEnqueueReadBuffer(q, b, CL_FALSE, 0, 4, p, 0, 0, 0);\n}\n", ""},
    {"what is done once before a loop",
     "void f() {\n  for (cl_mem b = clCreateBuffer(c); ok(b);) cblas_sgemm(b);\n}\n", ""},
    {"allocation in the step",
     "void f() {\n  for (;;) {\n    cl_mem b = clCreateBuffer(c);\n    cblas_sgemm(b);\n  }\n}\n",
     "device-allocation@3"},
    {"lines forced out",
     "void f() {\n  for (;;) {\n    cublasSgemm(h);\n    std::cout << 1 << std::endl;\n  }\n}\n",
     "flush-name@4"},
    {"locks and threads",
     "void f() {\n  for (;;) {\n    cublasSgemm(h);\n"
     "    const std::lock_guard<std::mutex> lock(m);\n    std::thread t(g);\n  }\n}\n",
     "lock@4 thread-start@5"},
    {"LibTorch's values and state",
     "void f() {\n  for (auto& batch : *loader) {\n    auto loss = net->forward(batch);\n"
     "    sum += loss.item<float>();\n    auto rows = loss.cpu();\n    auto kept = rows.clone();\n"
     "    torch::save(net, path);\n  }\n  sum += cpu(item());\n}\n",
     "scalar-fetch@4 scalar-fetch@5 host-copy@6 state-write@7"},
    {"kernels compiled", "void f() { clBuildProgram(p); }\n", "kernel-build@1"},
    {"threads set", "int main() { omp_set_num_threads(4); setenv(\"OMP_NUM_THREADS\", \"4\", 1); }",
     "threads-set@1 threads-exported@1"},
    {"through a method",
     "void Net::check() { cudaStreamSynchronize(s); }\n"
     "void Net::run() {\n  for (int i = 0; i < n; ++i) {\n    cublasSgemm(h);\n    check();\n  "
     "}\n}\n",
     "device-wait@1"},
    {"set-up is no step",
     "Net::Net() { for (auto& b : buffers) { cudaMalloc(&b); cublasSetMatrix(b); } }\n"
     "void Net::run() { for (;;) cublasSgemm(h); }\n",
     ""},
    {"loops of a program that launches nothing",
     "void step() {\n  auto b = std::make_unique<float[]>(9);\n}\n"
     "int main() {\n  for (;;) {\n    step();\n    std::this_thread::sleep_for(t);\n  }\n}\n",
     "host-allocation@2 sleeping@7"},
};

// A package's file names what it offers, and other files may take a name from where it is.
TEST(Finding, ImportsThatOtherFilesTakeAreNotForNothing) {
  const std::vector<Source> sources = {
      {"job/__init__.py", "from .model import Net\nfrom .data import Data\n"},
      {"job/model.py", "import torch\nfrom torch import nn\nclass Net(nn.Module): pass\n"},
      {"train.py", "from job.model import torch\nfrom job.other import json\ntorch.x(json)\n"},
      {"other.py", "import json\nimport math\n"},
  };
  std::vector<std::string> words;
  for (const Finding& finding : analyse(sources).findings) {
    words.push_back(fmt::format("{}:{}", finding.file, finding.line));
  }
  EXPECT_EQ(join(words, " "), "other.py:2");
}

TEST(Finding, CppHabitsAreFoundOnTheirLines) {
  for (const FindingCase& c : kCpp) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(found("job.cc", c.source), c.want);
  }
}

// Any loop may be the one that counts: what a line took must say so.
TEST(Finding, WithoutALaunchOnlyTimesProveAHabit) {
  const std::string loop = "int main() {\n  for (;;) {\n    usleep(1);\n";
  for (const bool launches : {false, true}) {
    const Source source{"job.cc", loop + (launches ? "cublasSgemm(h);\n}\n}\n" : "}\n}\n"), ""};
    const Analysis got = analyse({&source, 1});
    ASSERT_EQ(got.findings.size(), 1U);
    EXPECT_EQ(got.findings[0].cost, launches ? Cost::kHere : Cost::kOnlyHere);
  }
}

// The rules found in the step loop, or anywhere, of an example job, with their lines' texts.
std::set<std::string> lines_of(const Analysis& analysis, std::string_view rule) {
  std::set<std::string> lines;
  for (const Finding& finding : analysis.findings) {
    if (finding.rule == rule) lines.insert(finding.snippet);
  }
  return lines;
}

TEST(Finding, TheOfflineEvaluationNamesItsLines) {
  const Analysis got = analyse(example("offline_eval"), "examples/offline_eval/evaluate.py");
  EXPECT_TRUE(got.has_step_loop);
  EXPECT_TRUE(got.skipped.empty());
  using Lines = std::set<std::string>;
  EXPECT_EQ(lines_of(got, "range-check"), (Lines{"if not torch.isfinite(values).all().item() or "
                                                 "values.abs().max().item() > 1e4:"}));
  EXPECT_EQ(lines_of(got, "logged-scalar"),
            (Lines{"loss = torch.nn.functional.cross_entropy(logits, labels).item()",
                   "hits = (logits.argmax(dim=1) == labels).float().mean().item()"}));
  EXPECT_EQ(lines_of(got, "decode"), (Lines{"with Image.open(path) as image:"}));
  EXPECT_EQ(lines_of(got, "loader-workers"), (Lines{"return DataLoader("}));
  EXPECT_EQ(lines_of(got, "fsync"), (Lines{"os.fsync(self.file.fileno())"}));
  EXPECT_EQ(lines_of(got, "unused-import").size(), 11U);
  EXPECT_EQ(lines_of(got, "inference-mode"), (Lines{"while True:"}));
  for (const Finding& finding : got.findings) {
    EXPECT_NE(finding.file, "examples/offline_eval/make_data.py") << "it is not imported";
    if (finding.rule == "range-check") {
      EXPECT_EQ(finding.function, "check_range");
    }
  }
}

TEST(Finding, TheDeviceQueueNamesItsLines) {
  const Analysis got = analyse(example("device_queue"));
  std::set<std::string> functions;
  for (const Finding& finding : got.findings) {
    if (finding.how_often == HowOften::kStep) functions.insert(finding.function);
  }
  EXPECT_EQ(functions,
            (std::set<std::string>{"Network.check_range", "Network.read_sum", "Scoring.retire",
                                   "Scoring.submit", "Scoring.upload"}));
}

TEST(Finding, TheTunedJobHasNothingInItsSteps) {
  for (const Finding& finding : analyse(example("tuned")).findings) {
    EXPECT_EQ(finding.how_often, HowOften::kOnce) << finding.rule << " " << finding.line;
  }
}

TEST(Rule, EveryRowSaysAllThatPeopleNeed) {
  std::set<std::string_view> ids;
  const std::string evidence = read(kRoot / "docs/format/evidence.md");
  for (const auto rules : {python_rules(), cpp_rules()}) {
    for (const Rule& rule : rules) {
      SCOPED_TRACE(rule.id);
      EXPECT_TRUE(ids.insert(rule.id).second) << "used twice";
      EXPECT_FALSE(rule.finds.empty() || rule.suggest.empty() || rule.explains.empty());
      EXPECT_EQ(rule_named(rule.id), &rule);
      for (const std::string_view name : rule.explains) {
        EXPECT_NE(evidence.find(fmt::format("| `{}` |", name)), evidence.npos) << name;
      }
      for (const std::string_view name : rule.touches) {
        EXPECT_NE(evidence.find(fmt::format("| `{}` |", name)), evidence.npos) << name;
        EXPECT_EQ(std::ranges::find(rule.explains, name), rule.explains.end()) << name;
      }
      if (!rule.playbook.empty()) {
        EXPECT_TRUE(fs::exists(kRoot / "playbook" / fmt::format("{}.toml", rule.playbook)));
      }
      if (!rule.need.evidence.empty()) {
        EXPECT_NE(evidence.find(fmt::format("| `{}` |", rule.need.evidence)), evidence.npos);
      }
    }
  }
}

}  // namespace
}  // namespace amdahl::code
