// testing.h: a temporary folder and a shell command under the supervisor, for this room's tests.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "observe/supervisor.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::observe {

class InFolder : public testing::Test {
 protected:
  InFolder() : folder_{os::absolute(testing::TempDir() + "observe_" + os::random_hex(12))} {
    std::filesystem::create_directories(folder_);
  }
  ~InFolder() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    ASSERT_TRUE(os::write_file(path(name), bytes));
  }

  RunOrder order(std::vector<std::string> argv) const {
    RunOrder made;
    made.id = "r-test/A";
    made.family = "test";
    made.arm = "A";
    made.plan.argv = std::move(argv);
    made.plan.workdir = folder_;
    made.out_dir = path("out");
    made.state_dir = path("state");
    made.sample_every = std::chrono::milliseconds(20);
    made.time_limit = std::chrono::seconds(60);
    return made;
  }
  RunOrder shell(const std::string& script) const { return order({"sh", "-c", script}); }

  // The receipt, or one with our error as its reason.
  static model::Receipt run(const RunOrder& order) {
    auto got = supervise(order, os::real_clock());
    if (got) return *got;
    ADD_FAILURE() << got.error().text;
    return {};
  }

  std::string folder_;
};

// A Python job with injections.
class InjectedJob : public InFolder {
 protected:
  // What it printed.
  std::string printed(const std::string& script, const std::map<std::string, std::string>& inject) {
    write("job.py", script);
    RunOrder made = order({"/usr/bin/python3", "-W", "ignore", "job.py"});
    made.plan.inject = inject;
    receipt_ = run(made);
    EXPECT_EQ(receipt_.code, 0) << receipt_.stderr_tail;
    return receipt_.stdout_tail;
  }
  std::int64_t times() const { return receipt_.injected.empty() ? -1 : receipt_.injected[0].times; }
  // What it prints last, to stderr: what the fix is to change.
  double measured() const { return std::atof(receipt_.stderr_tail.c_str()); }
  static bool no_torch() {
    return std::system("/usr/bin/python3 -c 'import torch' 2>/dev/null") != 0;
  }

  model::Receipt receipt_;
};

}  // namespace amdahl::observe
