// The lines of source that waits and samples are put down to, against programs whose lines are
// known.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "observe/bpf/collector_testing.h"
#include "source_dir.h"

namespace amdahl::observe {
namespace {

using model::Wait;

// Waits where it says so, and measures how long.
constexpr const char* kScript = R"(import queue, threading, time

def nap(seconds):
    time.sleep(
        seconds)  # Its call begins on line 4.

def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass

def take(items):
    return items.get()

def give(items):
    for _ in range(20):
        nap(0.02)
        items.put(1)

class Résumé:
    def rest(self):
        for _ in range(20):
            nap(0.02)

# Blocked is what is left beside the CPU time and the wait for a CPU.
def now():
    delay = int(open("/proc/thread-self/schedstat").read().split()[1])
    return time.monotonic_ns() - time.thread_time_ns() - delay

# Until it is known which interpreter this is.
time.sleep(0.4)
Résumé().rest()
items = queue.Queue()
giver = threading.Thread(target=give, args=(items,))
giver.start()
begin = now()
for _ in range(20):
    take(items)
print("lock", now() - begin)
spin(1.0)
print("done", 1)
)";

std::string shown(const model::PythonFrame& frame) {
  return fmt::format("{} {}:{}", frame.function, frame.file, frame.line);
}

class CollectorLinesTest : public WithCollector {
 protected:
  // Of the main thread.
  struct Sums {
    double time = 0;
    std::int64_t count = 0;
    std::string stacks;
  };

  std::string frame(const std::string& function, int line) const {
    return fmt::format("{} {}:{}", function, path("job.py"), line);
  }

  static bool has(const std::vector<model::PythonFrame>& frames,
                  const std::vector<std::string>& wanted) {
    return std::ranges::all_of(wanted, [&](const std::string& want) {
      return std::ranges::any_of(frames, [&](const auto& frame) { return shown(frame) == want; });
    });
  }

  // Of the places that waited for `reason` in all of these frames.
  static Sums waited(const Recorded& seen, Wait reason, const std::vector<std::string>& frames) {
    Sums sums;
    for (const model::WaitSite& site : seen.summary.sites) {
      for (const auto& own : site.python) sums.stacks += shown(own) + " < ";
      sums.stacks += fmt::format("{} {}\n", name(site.reason), site.time.count());
      if (site.reason != reason || !has(site.python, frames)) continue;
      sums.time += nanos(site.time);
      sums.count += site.count;
    }
    return sums;
  }

  Problems judged(const Recorded& seen, const std::string& method) const {
    Problems problems;
    // The last of the three frames is the module itself.
    const Sums slept =
        waited(seen, Wait::kSleep, {frame("nap", 4), frame(method, 23), frame("<module>", 32)});
    want_near(slept.time, 20 * 20e6, "slept in nap", problems);
    const Sums locked = waited(seen, Wait::kFutex, {frame("take", 13), frame("<module>", 38)});
    want_near(locked.time, seen.truth.at("lock"), "waited in take", problems);
    if (!problems.empty()) problems.push_back(slept.stacks.substr(0, 2000));
    // The other thread's stack begins in the library.
    const Sums other = waited(seen, Wait::kSleep, {frame("nap", 4), frame("give", 17)});
    want(other.count >= 18, fmt::format("the other thread slept {} times", other.count), problems);
    double all = 0;
    double spun = 0;
    for (const model::RunSite& site : seen.summary.running) {
      all += static_cast<double>(site.samples);
      const bool is_spin =
          std::ranges::any_of(site.python, [](const auto& own) { return own.function == "spin"; });
      if (is_spin) spun += static_cast<double>(site.samples);
    }
    // 47 a second: what starting the interpreter costs is the rest.
    want(spun >= 25, fmt::format("{} of {} samples in spin", spun, all), problems);
    return problems;
  }

  void expect_lines(const std::string& python, const std::string& method) {
    write("job.py", kScript);
    hold(fmt::format("{} {}", python, path("job.py")),
         [&](const Recorded& seen) { return judged(seen, method); });
  }
};

TEST_F(CollectorLinesTest, PythonLinesThatWaitAndRun) {
  if (::access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "there is no /usr/bin/python3";
  expect_lines("/usr/bin/python3", "Résumé.rest");
}

// Of those that happen to be here.
TEST_F(CollectorLinesTest, PythonLinesOfEveryVersion) {
  const char* home = std::getenv("HOME");
  int tried = 0;
  for (int minor = 9; minor <= 13; ++minor) {
    std::error_code error;
    const std::string versions = std::string(home ? home : "/root") + "/.pyenv/versions";
    for (const auto& entry : std::filesystem::directory_iterator(versions, error)) {
      const std::string python = fmt::format("{}/bin/python3.{}", entry.path().string(), minor);
      if (!std::filesystem::exists(python, error)) continue;
      SCOPED_TRACE(python);
      if (tried++ > 0) SetUp();
      // Versions before 3.11 do not keep what a function is nested in.
      expect_lines(python, minor < 11 ? "rest" : "Résumé.rest");
    }
  }
  if (tried == 0) GTEST_SKIP() << "no interpreters of other versions are here";
}

// A script that is started by another, and one that is forked: both are Python's.
TEST_F(CollectorLinesTest, PythonThatIsForkedOrStartedByAnotherIsKnown) {
  if (::access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "there is no /usr/bin/python3";
  write("fork.py", R"(import os, time
time.sleep(0.4)
if os.fork() == 0:
    time.sleep(0.3)
    os._exit(0)
os.wait()
print("done", 1)
)");
  hold(fmt::format("sh -c '/usr/bin/python3 {}; true'", path("fork.py")),
       [&](const Recorded& seen) {
         Problems problems;
         const std::string place = fmt::format("<module> {}:4", path("fork.py"));
         const Sums slept = waited(seen, Wait::kSleep, {place});
         want_near(slept.time, 0.3e9, "the child slept", problems);
         const Sums waiting =
             waited(seen, Wait::kChild, {fmt::format("<module> {}:6", path("fork.py"))});
         want(waiting.time > 0.25e9, "the parent waited for it: " + waiting.stacks, problems);
         return problems;
       });
}

TEST_F(CollectorLinesTest, LinesOfCompiledCodeWithThoseInlined) {
  const std::string source = AMDAHL_SOURCE_DIR "/src/observe/bpf/testdata/truth.cpp";
  const std::string text = *os::read_file(source);
  const auto line_of = [&](std::string_view part) {
    const auto before = std::string_view(text).substr(0, text.find(part));
    return static_cast<int>(std::ranges::count(before, '\n')) + 1;
  };
  hold(std::string(TRUTH_PROGRAM) + " futex", [&](const Recorded& seen) {
    Problems problems;
    const auto site =
        std::ranges::find(seen.summary.sites, seen.task("futex").tid, &model::WaitSite::tid);
    if (site == seen.summary.sites.end()) return Problems{"no place"};
    std::string told;
    bool is_found = false;
    for (const model::WaitFrame& frame : site->frames) {
      told += fmt::format("{} {}:{}\n", frame.symbol, frame.source, frame.line);
      is_found = is_found || (frame.symbol.find("wait_for_item") != frame.symbol.npos &&
                              frame.source == source && frame.line == line_of("ready.wait(lock,"));
    }
    want(is_found, told, problems);
    std::int64_t spun = 0;
    for (const model::RunSite& run : seen.summary.running) {
      const bool is_spin = std::ranges::any_of(run.frames, [&](const model::WaitFrame& frame) {
        return frame.source == source && frame.line == line_of("while (own_cpu() < end)");
      });
      if (is_spin) spun += run.samples;
    }
    want(spun >= 10, fmt::format("{} samples in the producer's loop", spun), problems);
    want(seen.summary.run_sample_every > Nanos{}, "how often it was looked is told", problems);
    return problems;
  });
}

// Without an environment the first thread waits a few hundred bytes below its stack's end.
TEST_F(CollectorLinesTest, AStackNearItsEndIsWhole) {
  const std::string same_place = "setarch -R ";  // Else the end is near in some runs only.
  if (std::system((same_place + "true 2>/dev/null").c_str()) != 0) {
    GTEST_SKIP() << "setarch -R is not permitted here";
  }
  hold(fmt::format("env -i {} {} sleep", same_place, TRUTH_PROGRAM), [&](const Recorded& seen) {
    Problems problems;
    std::string told;
    const std::int64_t tid = seen.task("sleep").tid;
    const auto site = std::ranges::find_if(seen.summary.sites, [&](const model::WaitSite& one) {
      return one.tid == tid && one.reason == Wait::kSleep;
    });
    if (site == seen.summary.sites.end()) return Problems{"no place"};
    for (const model::WaitFrame& frame : site->frames) told += frame.symbol + " < ";
    want(told.ends_with("_start < "), told, problems);
    return problems;
  });
}

// The caller that comes first must not be charged with the waits of the others.
TEST_F(CollectorLinesTest, CallersAtOneDepthAreToldApart) {
  hold(std::string(TRUTH_PROGRAM) + " callers", [&](const Recorded& seen) {
    Problems problems;
    std::map<std::string, std::int64_t> counts;
    std::string told;
    for (const model::WaitSite& site : seen.summary.sites) {
      if (site.tid != seen.task("callers").tid || site.reason != Wait::kSleep) continue;
      told += fmt::format("{} times:", site.count);
      for (const model::WaitFrame& frame : site.frames) {
        told += " " + frame.symbol;
        for (const char* caller : {"seldom", "often"}) {
          if (frame.symbol.find(caller) != frame.symbol.npos) counts[caller] += site.count;
        }
      }
      told += "\n";
    }
    want(counts["seldom"] == 1 && counts["often"] == 30, told, problems);
    return problems;
  });
}

}  // namespace
}  // namespace amdahl::observe
