// Each rule speaks where its cost was seen, with that cost, and is silent elsewhere.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "profile/findings.h"
#include "profile/testing.h"

namespace amdahl::profile {
namespace {

struct RuleCase {
  const char* rule;
  const char* file;
  const char* source;
  int line;
  std::map<std::string, double> evidence;  // One share of 0.3, and what else the rule needs.
};

const std::string kOthers[] = {"input_wait_share",  "copy_share",       "sync_share",
                               "logging_share",     "checkpoint_share", "serial_share",
                               "own_threads_share", "wakeup_share",     "startup_share",
                               "import_share",      "warmup_share"};

std::vector<RuleCase> python_cases() {
  return {
      {"loader-workers", "job.py", "l = DataLoader(d)\n", 1, {{"input_wait_share", 0.3}}},
      {"loader-pin", "job.py", "l = DataLoader(d)\n", 1, {{"copy_share", 0.3}}},
      {"loader-persistent",
       "job.py",
       "l = DataLoader(d, num_workers=4)\n",
       1,
       {{"input_wait_share", 0.3}}},
      {"loader-prefetch",
       "job.py",
       "l = DataLoader(d, num_workers=4)\n",
       1,
       {{"input_wait_share", 0.3}}},
      {"scalar-sync",
       "job.py",
       "for b in loader:\n  t += model(b).item()\n",
       2,
       {{"sync_share", 0.3}}},
      {"scalar-sync",
       "job.py",
       "for b in loader:\n  t = model(b).cpu()\n",
       2,
       {{"sync_share", 0.3}}},
      {"scalar-sync",
       "job.py",
       "for b in loader:\n  t = model(b).numpy()\n",
       2,
       {{"sync_share", 0.3}}},
      {"logged-scalar",
       "job.py",
       "for b in loader:\n  print(model(b).item())\n",
       2,
       {{"logging_share", 0.3}}},
      {"logging",
       "job.py",
       "for b in loader:\n  model(b)\n  logger.info('x')\n",
       3,
       {{"logging_share", 0.3}}},
      {"fsync",
       "job.py",
       "for b in loader:\n  model(b)\n  os.fsync(log.fileno())\n",
       3,
       {{"logging_share", 0.3}}},
      {"synchronize",
       "job.py",
       "for b in loader:\n  model(b)\n  torch.cuda.synchronize()\n",
       3,
       {{"sync_share", 0.3}}},
      {"range-check",
       "job.py",
       "for b in loader:\n  o = model(b)\n  if torch.isnan(o).any(): break\n",
       3,
       {{"sync_share", 0.3}}},
  };
}

std::vector<RuleCase> more_python_cases() {
  return {
      {"checkpoint",
       "job.py",
       "for b in loader:\n  model(b)\n  torch.save(s, 'x')\n",
       3,
       {{"checkpoint_share", 0.3}}},
      {"thread-count",
       "job.py",
       "torch.set_num_threads(8)\n",
       1,
       {{"own_threads_share", 0.3}, {"threads_per_cpu", 4}}},
      {"thread-variable",
       "job.py",
       "os.environ['OMP_NUM_THREADS'] = '8'\n",
       1,
       {{"own_threads_share", 0.3}, {"threads_per_cpu", 4}}},
      {"decode",
       "job.py",
       "class D:\n  def __getitem__(self, i):\n    return Image.open(self.paths[i])\n",
       3,
       {{"input_wait_share", 0.3}}},
      {"allocation",
       "job.py",
       "for b in loader:\n  m = torch.zeros(8)\n  model(b, m)\n",
       2,
       {{"serial_share", 0.3}}},
      {"blocking-copy",
       "job.py",
       "for b in loader:\n  b = b.to('cuda')\n  model(b)\n",
       2,
       {{"copy_share", 0.3}}},
      {"clone-detach",
       "job.py",
       "for b in loader:\n  x = model(b).clone().detach()\n",
       2,
       {{"copy_share", 0.3}}},
      {"needless-copy",
       "job.py",
       "for b in loader:\n  x = model(b).contiguous()\n",
       2,
       {{"copy_share", 0.3}}},
      {"inference-mode",
       "job.py",
       "model.eval()\nfor b in loader:\n  model(b)\n",
       2,
       {{"serial_share", 0.3}, {"hook.grad_enabled_share", 1}}},
      {"garbage",
       "job.py",
       "for b in loader:\n  model(b)\n  gc.collect()\n",
       3,
       {{"serial_share", 0.3}}},
  };
}

std::vector<RuleCase> cpp_cases() {
  return {
      {"scalar-fetch",
       "job.cc",
       "void f() {\n  for (auto& b : *l) {\n    t += net->forward(b).item<float>();\n  }\n}\n",
       3,
       {{"sync_share", 0.3}}},
      {"blocking-read",
       "job.cc",
       "void f() {\n  while (a) clEnqueueReadBuffer(q, b, CL_TRUE, 0, 4, p, 0, 0, 0);\n}\n",
       2,
       {{"sync_share", 0.3}}},
      {"device-wait",
       "job.cc",
       "void f() {\n  for (;;) {\n    cublasSgemm(h);\n    cudaDeviceSynchronize();\n  }\n}\n",
       4,
       {{"sync_share", 0.3}}},
      {"blocking-memcpy",
       "job.cc",
       "void f() {\n  for (;;) {\n    cublasSgemm(h);\n    cudaMemcpy(a, b, n, k);\n  }\n}\n",
       4,
       {{"copy_share", 0.3}}},
      {"print",
       "job.cc",
       "void f() {\n  for (;;) {\n    cublasSgemm(h);\n    printf(\"%f\", x);\n  }\n}\n",
       4,
       {{"logging_share", 0.3}}},
      {"flush-name",
       "job.cc",
       "void f() {\n  for (;;) {\n    cublasSgemm(h);\n    out << std::endl;\n  }\n}\n",
       4,
       {{"logging_share", 0.3}}},
      {"state-write",
       "job.cc",
       "void f() {\n  for (;;) {\n    net->forward(b);\n    torch::save(net, p);\n  }\n}\n",
       4,
       {{"checkpoint_share", 0.3}}},
      {"threads-set",
       "job.cc",
       "int main() { omp_set_num_threads(8); }\n",
       1,
       {{"own_threads_share", 0.3}, {"threads_per_cpu", 4}}},
      {"file-open",
       "job.cc",
       "void f() {\n  for (;;) {\n    auto i = imread(p);\n    cublasSgemm(i);\n  }\n}\n",
       3,
       {{"input_wait_share", 0.3}}},
      {"device-allocation",
       "job.cc",
       "void f() {\n  for (;;) {\n    cudaMalloc(&p, n);\n    cublasSgemm(p);\n  }\n}\n",
       3,
       {{"serial_share", 0.3}}},
      {"lock",
       "job.cc",
       "void f() {\n  for (;;) {\n    cublasSgemm(h);\n    std::lock_guard<M> g(m);\n  }\n}\n",
       4,
       {{"wakeup_share", 0.3}}},
  };
}

const Finding* finding_of(const std::vector<Finding>& all, const RuleCase& c) {
  for (const Finding& finding : all) {
    if (finding.code.rule == c.rule) return &finding;
  }
  return nullptr;
}

void expect_cost(const RuleCase& c) {
  SCOPED_TRACE(testing::Message() << c.rule << "\n" << c.source);
  const std::vector<code::Source> sources = {{c.file, c.source}};
  const std::vector<code::Finding> found = code::analyse(sources).findings;
  const std::vector<Finding> all = findings(found, profile_of(c.evidence), {});
  const Finding* const finding = finding_of(all, c);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->code.file, c.file);
  EXPECT_EQ(finding->code.line, c.line);
  EXPECT_NEAR(finding->accelerator_seconds, 6, 1e-9);
  EXPECT_NEAR(finding->ceiling, 1 / 0.7, 1e-9);
  EXPECT_FALSE(finding->code.suggestion.empty());
  // Without the cost, and with the cost of something else, it says nothing.
  std::map<std::string, double> none = c.evidence;
  for (const std::string& name : kOthers) none.erase(name);
  EXPECT_EQ(finding_of(findings(found, profile_of(none), {}), c), nullptr);
  for (const std::string& name : kOthers) {
    const auto& explains = finding->code.explains;
    if (std::find(explains.begin(), explains.end(), name) != explains.end()) continue;
    std::map<std::string, double> other = none;
    other[name] = 0.3;
    EXPECT_EQ(finding_of(findings(found, profile_of(other), {}), c), nullptr) << name;
  }
}

TEST(RuleCosts, OfPython) {
  for (const RuleCase& c : python_cases()) expect_cost(c);
  for (const RuleCase& c : more_python_cases()) expect_cost(c);
}

TEST(RuleCosts, OfCpp) {
  for (const RuleCase& c : cpp_cases()) expect_cost(c);
}

// Rules whose cost only their own lines can show.
TEST(RuleCosts, OfTimedLinesAlone) {
  const RuleCase cases[] = {
      {"unused-import", "job.py", "import a\n", 1, {{"import_share", 0.3}}},
      {"import-in-step",
       "job.py",
       "for b in loader:\n  import json\n  json.dumps(model(b))\n",
       2,
       {{"serial_share", 0.3}}},
      {"host-allocation",
       "job.cc",
       "void f() {\n  for (;;) {\n    cublasSgemm(h);\n    p = new float[9];\n  }\n}\n",
       4,
       {{"serial_share", 0.3}}},
      {"host-copy",
       "job.cc",
       "void f() {\n  for (;;) {\n    cublasSgemm(h);\n    memcpy(a, b, n);\n  }\n}\n",
       4,
       {{"serial_share", 0.3}}},
  };
  for (const RuleCase& c : cases) {
    SCOPED_TRACE(c.rule);
    const std::vector<code::Source> sources = {{c.file, c.source}};
    const std::vector<code::Finding> found = code::analyse(sources).findings;
    EXPECT_EQ(finding_of(findings(found, profile_of(c.evidence), {}), c), nullptr);
    const std::vector<LineCost> lines = {
        {.file = c.file, .line = c.line, .function = "f", .in_steps = true, .seconds = 3}};
    const std::vector<Finding> all = findings(found, profile_of(c.evidence), lines);
    const Finding* const finding = finding_of(all, c);
    ASSERT_NE(finding, nullptr);
    EXPECT_NEAR(finding->accelerator_seconds, 6, 1e-9);
    EXPECT_TRUE(finding->measured);
  }
}

// The run shows that the loader has workers, whatever the source calls their number.
TEST(RuleCosts, ARunMayRefuteWhatTheSourceSuggests) {
  const RuleCase c{
      "loader-workers", "job.py", "l = DataLoader(d, num_workers=args.workers)\n", 1, {}};
  const std::vector<code::Source> sources = {{c.file, c.source}};
  const std::vector<code::Finding> found = code::analyse(sources).findings;
  const auto with = [&](double workers) {
    return findings(found,
                    profile_of({{"input_wait_share", 0.3}, {"hook.loader_workers", workers}}), {});
  };
  EXPECT_NE(finding_of(with(0), c), nullptr);
  EXPECT_EQ(finding_of(with(2), c), nullptr);
}

TEST(RuleCosts, NoWorkersAreKeptWhereThereAreNoneOrOnlyOnePass) {
  const RuleCase c{"loader-persistent", "job.py", "l = DataLoader(d, num_workers=n)\n", 1, {}};
  const std::vector<code::Source> sources = {{c.file, c.source}};
  const std::vector<code::Finding> found = code::analyse(sources).findings;
  const auto with = [&](double workers, double passes) {
    const auto all = findings(found,
                              profile_of({{"input_wait_share", 0.3},
                                          {"hook.loader_workers", workers},
                                          {"hook.loader_passes", passes}}),
                              {});
    return finding_of(all, c) != nullptr;
  };
  EXPECT_TRUE(with(2, 3));
  EXPECT_FALSE(with(2, 1));
  EXPECT_FALSE(with(0, 3));
}

// Its function is there, but was never called.
TEST(RuleCosts, AFileThatWasNeverMetCostsNothing) {
  const RuleCase c{"scalar-sync", "meters.py", "", 0, {}};
  const std::vector<code::Source> sources = {
      {"meters.py", "def add(loss):\n    return loss.item()\n"},
      {"train.py", "import meters\nfor x in loader:\n    y = model(x)\n    meters.add(y)\n"}};
  const std::vector<code::Finding> found = code::analyse(sources).findings;
  const auto profile = profile_of({{"sync_share", 0.3}, {"serial_share", 0.3}});
  EXPECT_NE(finding_of(findings(found, profile, {}), c), nullptr);
  LineCost met{"train.py", 3, "", true, 5};
  EXPECT_EQ(finding_of(findings(found, profile, std::vector{met}), c), nullptr);
  met.in_steps = false;
  EXPECT_NE(finding_of(findings(found, profile, std::vector{met}), c), nullptr);
}

}  // namespace
}  // namespace amdahl::profile
