// collector_testing.h: runs a program under the collector. Tests skip, with the kernel's reason,
// where BPF is not permitted.
#pragma once

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "model/bpf.h"
#include "observe/bpf/collector.h"
#include "observe/testing.h"

namespace amdahl::observe {

struct Recorded {
  std::map<std::string, double> truth;  // What the program measured of itself.
  model::BpfSummary summary;

  const model::TaskWaits& task(const std::string& load) const {
    const auto tid = static_cast<std::int64_t>(truth.at(load + ".tid"));
    const auto found = std::ranges::find(summary.tasks, tid, &model::TaskWaits::tid);
    if (found == summary.tasks.end()) {
      static const model::TaskWaits kNone;
      ADD_FAILURE() << "thread " << tid << " was not seen";
      return kNone;
    }
    return *found;
  }
};

inline double nanos(Nanos time) { return static_cast<double>(time.count()); }

// Failed expectations, one sentence each.
using Problems = std::vector<std::string>;

// Within 5 %, or half a millisecond for start-up and printing if that is more.
inline void want_near(double seen, double truth, const std::string& what, Problems& problems) {
  if (std::abs(seen - truth) <= std::max(0.05 * truth, 5e5)) return;
  problems.push_back(
      fmt::format("{}: {:.3f} ms, the truth is {:.3f} ms", what, seen / 1e6, truth / 1e6));
}

inline void want(bool holds, const std::string& what, Problems& problems) {
  if (!holds) problems.push_back(what);
}

class WithCollector : public InFolder {
 protected:
  void SetUp() override {
    CollectorOptions options;
    options.record = path("waits.jsonl");
    auto started = BpfCollector::start(options, os::real_clock());
    if (!started) GTEST_SKIP() << started.error().text;
    collector_ = *std::move(started);
  }

  // Runs a shell command under the collector. The command prints one name and number per line.
  Recorded run(const std::string& command) {
    Recorded seen;
    collector_->follow_children();
    FILE* out = ::popen(("exec " + command).c_str(), "r");
    collector_->ignore_children();
    char name[64];
    double value = 0;
    while (std::fscanf(out, "%63s %lf", name, &value) == 2) seen.truth[name] = value;
    EXPECT_EQ(::pclose(out), 0);
    auto summary = collector_->stop();
    if (summary) {
      seen.summary = *std::move(summary);
    } else {
      ADD_FAILURE() << summary.error().text;
    }
    EXPECT_EQ(seen.summary.lost_tasks + seen.summary.lost_events, 0);
    return seen;
  }

  // Other programs may disturb what a program measures of itself. So the command is repeated, and
  // in one of a few runs all expectations must hold at once.
  Recorded hold(const std::string& command, const std::function<Problems(const Recorded&)>& judge) {
    for (int left = 6;; --left) {
      Recorded seen = run(command);
      const Problems problems = judge(seen);
      if (problems.empty() || left == 1 || HasFailure()) {
        EXPECT_TRUE(problems.empty()) << join(problems, "\n");
        return seen;
      }
      fmt::print("measured again: {}\n", join(problems, "; "));
      SetUp();
    }
  }

  std::unique_ptr<BpfCollector> collector_;
};

}  // namespace amdahl::observe
