// hook_lines_test.cc: the thread of the hook that looks at lines, alone with a program.
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.h"
#include "source_dir.h"

namespace amdahl::observe {
namespace {

// What a program prints that is looked at as `lines.Sampler` does; ends with its exit code.
std::string looked_at(const std::string& program) {
  const std::string whole = R"(
import gc, sys, threading, time
sys.path.insert(0, sys.argv[1])
import _amdahl_lines as lines
looks = []
def look():
    return lines.Sampler(
        threading.get_ident(), time.perf_counter, lambda: "step", lambda: looks.append(1),
        lambda: None, 60)
)" + program;
  const std::vector<std::string> words = {"/usr/bin/python3", "-c", whole,
                                          AMDAHL_SOURCE_DIR "/src/observe/hook"};
  const std::string command = "exec 2>&1; " + shell_quote(words);
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return "popen failed";
  std::string said;
  std::array<char, 4096> part{};
  while (const std::size_t got = std::fread(part.data(), 1, part.size(), pipe)) {
    said.append(part.data(), got);
  }
  return said + std::to_string(::pclose(pipe));
}

// It would run Python in the middle of making a frame's object, and let the frame's thread go on:
// jobs that import much died of it.
TEST(HookLines, NothingIsCollectedWhileFramesAreTaken) {
  EXPECT_EQ(looked_at(R"(
inside = []
def note(phase, info):
    frame = sys._getframe().f_back
    if frame is not None and frame.f_code.co_name == "_frames":
        inside.append(phase)
sampler = look()
gc.callbacks.append(note)
gc.set_threshold(1)
def deep(n):
    return deep(n - 1) if n else sum(i for i in range(2000))
while len(looks) < 30:
    deep(50)
gc.callbacks.remove(note)
sampler.end()
print(inside, gc.isenabled())
)"),
            "[] True\n0");
}

TEST(HookLines, AJobThatCollectsNothingIsLeftSo) {
  EXPECT_EQ(looked_at(R"(
gc.disable()
sampler = look()
while len(looks) < 10:
    sum(range(1000))
sampler.end()
print(gc.isenabled())
)"),
            "False\n0");
}

}  // namespace
}  // namespace amdahl::observe
