#include "code/patch.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "code/finding.h"

namespace amdahl::code {
namespace {

namespace fs = std::filesystem;

// A folder of its own, gone afterwards.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "amdahl-patch-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) ADD_FAILURE() << pattern;
    path_ = pattern;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(path_ / name, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  int run(const std::string& command) const {
    return std::system(fmt::format("cd {} && {} >out.txt 2>&1", path_.string(), command).c_str());
  }

 private:
  fs::path path_;
};

// What `git apply` makes of the patch.
std::string applied(const std::string& name, const std::string& before, const std::string& patch) {
  const Folder folder;
  folder.write(name, before);
  folder.write("p.diff", patch);
  if (folder.run("git apply --whitespace=nowarn p.diff") != 0) return folder.read("out.txt");
  return folder.read(name);
}

TEST(Patch, GitMakesOfItWhatTheEditsSay) {
  const std::string kTexts[] = {
      "a\nb\nc\nd\ne\nf\ng\nh\n", "a\nb", "one line without an end", "a\r\nb\r\nc\r\n", "\n\n\nx\n",
  };
  for (const std::string& text : kTexts) {
    for (std::uint32_t at = 0; at < text.size(); ++at) {
      const std::vector<Edit> edits = {{at, at + 1, "new\ntext"}};
      EXPECT_EQ(applied("x.txt", text, unified_diff("x.txt", text, edits)), edited(text, edits));
    }
  }
}

TEST(Patch, NothingToSayIsNoPatch) {
  EXPECT_EQ(unified_diff("a.py", "x", {}), "");
  EXPECT_EQ(unified_diff("a.py", "x", {{0, 1, "x"}}), "");
  for (const char* path : {"/etc/passwd", "../a.py", "a b.py", "a\"b.py", "a\nb.py", "-a.py", ""}) {
    EXPECT_EQ(unified_diff(path, "x", {{0, 1, "y"}}), "") << path;
  }
}

struct FixCase {
  const char* name;
  const char* rule;
  const char* before;
  const char* after;
};

// Each is applied by git, and Python must take what comes out.
TEST(Patch, MechanicalOnesKeepTheProgram) {
  constexpr FixCase kCases[] = {
      {"a keyword at the end", "loader-workers", "DataLoader(data, batch_size=8)\n",
       "DataLoader(data, batch_size=8, num_workers=4)\n"},
      {"a keyword that is 0", "loader-workers", "DataLoader(data, num_workers=0)\n",
       "DataLoader(data, num_workers=4)\n"},
      {"no arguments", "loader-pin", "DataLoader()\n", "DataLoader(pin_memory=True)\n"},
      {"an argument a line", "loader-pin",
       "x = DataLoader(\n    data,\n    num_workers=4,  # of them\n)\n",
       "x = DataLoader(\n    data,\n    num_workers=4,\n    pin_memory=True,  # of them\n)\n"},
      {"workers by an expression", "loader-persistent",
       "DataLoader(data, num_workers=args.workers)\n",
       "DataLoader(data, num_workers=args.workers, persistent_workers=args.workers > 0)\n"},
      {"a statement goes", "synchronize",
       "for x in loader:\n    model(x)\n    torch.cuda.synchronize()\n    y = 1\n",
       "for x in loader:\n    model(x)\n    y = 1\n"},
      {"the only statement goes", "synchronize",
       "for x in loader:\n    if model(x):\n        torch.cuda.synchronize()\n",
       "for x in loader:\n    if model(x):\n        pass\n"},
      {"the collector goes", "garbage", "for x in loader:\n  model(x)\n  gc.collect()\nprint(1)\n",
       "for x in loader:\n  model(x)\nprint(1)\n"},
      {"a copy beside the step", "blocking-copy",
       "for x in loader:\n  y = model(x.to(\"cuda:0\"))\n",
       "for x in loader:\n  y = model(x.to(\"cuda:0\", non_blocking=True))\n"},
      {"to a device that was named", "blocking-copy",
       "device = torch.device('cuda')\nfor x in loader:\n  y = model(x.to(device))\n",
       "device = torch.device('cuda')\nfor x in loader:\n  y = model(x.to(device, "
       "non_blocking=True))\n"},
      {"cuda()", "blocking-copy", "for x in loader:\n  y = model(x.cuda())\n",
       "for x in loader:\n  y = model(x.cuda(non_blocking=True))\n"},
      {"all copies of a line", "blocking-copy",
       "for x, y in loader:\n  x, y = x.cuda(), y[0].to('cuda')\n  model(x)\n",
       "for x, y in loader:\n  x, y = x.cuda(non_blocking=True), y[0].to('cuda', "
       "non_blocking=True)\n  model(x)\n"},
      {"a place that is 0", "loader-workers", "DataLoader(d, 8, True, None, None, 0)\n",
       "DataLoader(d, 8, True, None, None, 4)\n"},
      {"detached before it is copied", "clone-detach",
       "for x in loader:\n  y = model(x).mean().clone().detach()\n",
       "for x in loader:\n  y = model(x).mean().detach().clone()\n"},
      {"a mask that is the same each time", "allocation",
       "def train(n, device):\n  for x in loader:\n    mask = torch.tril(torch.ones(n, "
       "n)).to(device)\n    y = model(x, mask)\n",
       "def train(n, device):\n  mask = torch.tril(torch.ones(n, n)).to(device)\n  for x in "
       "loader:\n    y = model(x, mask)\n"},
      {"a file that is the same each time", "decode",
       "for x in loader:\n  y = model(x)\n  w = np.load('w.npy')\n  y = y * w\n",
       "w = np.load('w.npy')\nfor x in loader:\n  y = model(x)\n  y = y * w\n"},
  };
  for (const FixCase& c : kCases) {
    SCOPED_TRACE(c.name);
    const std::vector<Source> sources = {{"job.py", c.before}};
    std::string patch;
    for (const Finding& finding : analyse(sources).findings) {
      if (finding.rule == c.rule) patch = finding.patch;
    }
    const std::string after = applied("job.py", c.before, patch);
    EXPECT_EQ(after, c.after);
    const Folder folder;
    folder.write("job.py", after);
    EXPECT_EQ(folder.run("python3 -m py_compile job.py"), 0) << folder.read("out.txt");
  }
}

TEST(Patch, WhereTheMeaningCouldChangeThereIsNone) {
  constexpr FixCase kCases[] = {
      {"workers of an iterable data set each give all of it", "loader-workers",
       "class D(IterableDataset): pass\nDataLoader(D())\n", ""},
      {"arguments that come from elsewhere", "loader-workers", "DataLoader(data, **more)\n", ""},
      {"a copy back to the host must be waited for", "blocking-copy",
       "for x in loader:\n  y = model(x).to(device)\n", ""},
      {"a module's cuda() takes no such word", "blocking-copy",
       "for x in loader:\n  m = parts.get_model().cuda()\n  m(x)\n", ""},
      {"a name that is only a part of another", "blocking-copy",
       "for box in loader:\n  y = model(bo.cuda())\n", ""},
      {"someone relies on the wait", "synchronize",
       "for x in loader:\n  y = model(x).to('cpu', non_blocking=True)\n"
       "  torch.cuda.synchronize()\n",
       ""},
      {"its value is used", "garbage", "for x in loader:\n  model(x)\n  n = gc.collect()\n", ""},
      {"it is written to", "allocation",
       "for x in loader:\n  m = torch.zeros(8)\n  m[x] = 1\n  model(m)\n", ""},
      {"it is filled", "allocation",
       "for x in loader:\n  m = torch.zeros(8)\n  m.fill_(x)\n  model(m)\n", ""},
      {"a size that comes with the batch", "allocation",
       "for x in loader:\n  n = len(x)\n  m = torch.ones(n)\n  model(x, m)\n", ""},
      {"what the loop goes over", "allocation",
       "for i, x in enumerate(loader):\n  m = torch.ones(i)\n  model(x, m)\n", ""},
      {"a list that grows", "allocation",
       "for x in loader:\n  m = torch.tensor(seen)\n  seen.append(model(x, m))\n", ""},
      {"only sometimes", "allocation",
       "for x in loader:\n  if x:\n    m = torch.ones(8)\n    model(x, m)\n  y = 1\n", ""},
      {"another each time", "allocation", "for x in loader:\n  m = torch.rand(8)\n  model(x, m)\n",
       ""},
      {"kept from pass to pass", "allocation",
       "for x in loader:\n  y = model(x, m)\n  m = torch.ones(8)\n", ""},
      {"a file that is written meanwhile", "decode",
       "for x in loader:\n  w = np.load('w.npy')\n  np.save('w.npy', model(x, w))\n", ""},
      {"another statement on the line", "garbage", "for x in loader:\n  model(x); gc.collect()\n",
       ""},
  };
  for (const FixCase& c : kCases) {
    SCOPED_TRACE(c.name);
    const std::vector<Source> sources = {{"job.py", c.before}};
    int seen = 0;
    for (const Finding& finding : analyse(sources).findings) {
      if (finding.rule != c.rule) continue;
      ++seen;
      EXPECT_EQ(finding.patch, "");
    }
    EXPECT_EQ(seen, 1);
  }
}

TEST(Patch, CppLineEndsAreNotForcedOut) {
  const std::string before =
      "void f() {\n  for (;;) {\n    cublasSgemm(h);\n    out << 1 << std::endl;\n  }\n}\n";
  const std::vector<Source> sources = {{"job.cc", before}};
  const auto findings = analyse(sources).findings;
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(applied("job.cc", before, findings[0].patch),
            "void f() {\n  for (;;) {\n    cublasSgemm(h);\n    out << 1 << '\\n';\n  }\n}\n");
}

}  // namespace
}  // namespace amdahl::code
