#include "code/commit.h"

#include <gtest/gtest.h>

namespace amdahl::code {
namespace {

struct Case {
  const char* name;
  const char* fix;
  const char* value;
  const char* where;
  const char* path;
  const char* source;
  const char* removed;  // "" if there is no patch.
  const char* added;
};

TEST(Commit, WritesWhatAnInjectionDid) {
  const Case cases[] = {
      {"a loader gets workers", "loader-workers", "2", "train.py:2: 0 → 2 workers", "/r/train.py",
       "x = 1\nloader = DataLoader(data, batch_size=4)\n",
       "-loader = DataLoader(data, batch_size=4)\n",
       "+loader = DataLoader(data, batch_size=4, num_workers=2, persistent_workers=True)\n"},
      {"and loses them", "loader-workers", "0", "train.py:1: 4 → 0 workers", "/r/train.py",
       "loader = DataLoader(data, num_workers=4)\n", "-loader = DataLoader(data, num_workers=4)\n",
       "+loader = DataLoader(data, num_workers=0)\n"},
      {"arguments that are not known", "loader-workers", "2", "train.py:1: 0 → 2 workers",
       "/r/train.py", "loader = DataLoader(data, **options)\n", "", ""},
      {"another line", "loader-workers", "2", "train.py:9: 0 → 2 workers", "/r/train.py",
       "loader = DataLoader(data)\n", "", ""},
      {"another file", "loader-workers", "2", "other.py:1: 0 → 2 workers", "/r/train.py",
       "loader = DataLoader(data)\n", "", ""},
      {"gradients are let go", "zero-grad-none", "", "train.py:2: AdamW", "/r/train.py",
       "for x in y:\n    optimizer.zero_grad()\n", "-    optimizer.zero_grad()\n",
       "+    optimizer.zero_grad(set_to_none=True)\n"},
      {"no sync in the loop", "fsync-late", "", "log.py:3", "/r/log.py",
       "for x in y:\n    f.write(x)\n    os.fsync(f.fileno())\n", "-    os.fsync(f.fileno())\n",
       ""},
      {"lines of a compiled program", "native-stdout", "", "std::cout.flush()", "/r/a.cpp",
       "void f() {\n  std::cout << 1 << std::endl;\n}\n", "-  std::cout << 1 << std::endl;\n",
       "+  std::cout << 1 << '\\n';\n"},
      {"no edit is known", "gc-seldom", "", "thresholds", "/r/a.py", "import gc\n", "", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const std::vector<std::string> where{c.where};
    const std::vector<Source> sources{{c.path, c.source, std::string(c.path).substr(3)}};
    const std::string patch = commit_for({c.fix, c.value, where}, sources);
    EXPECT_EQ(patch.empty(), std::string(c.removed).empty()) << patch;
    EXPECT_NE(patch.find(c.removed), std::string::npos) << patch;
    EXPECT_NE(patch.find(c.added), std::string::npos) << patch;
  }
}

}  // namespace
}  // namespace amdahl::code
