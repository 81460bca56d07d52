// testing.h: a temporary state folder and a pair of shell commands, for this room's tests.
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "base/text.h"
#include "launch/local/local.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::launch::local {

class LocalTest : public testing::Test {
 protected:
  LocalTest() : folder_{os::absolute(testing::TempDir() + "launch_" + os::random_hex(12))} {
    std::filesystem::create_directories(folder_);
    ::setenv("AMDAHL_WORKER", TEST_WORKER, 1);
    launcher_ = make(path("state"));
  }
  ~LocalTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  RunFolder run_folder() const { return {path("state/runs/r-1")}; }

  PairRequest request(const std::string& a, const std::string& b) const {
    PairRequest made;
    made.reservation = "r-1";
    made.spec.family = "test";
    made.spec.command = {"sh", "-c", a};
    made.spec.workdir = folder_;
    made.spec.time_limit = std::chrono::seconds(60);
    made.a.argv = {"sh", "-c", a};
    made.a.workdir = folder_;
    made.b = made.a;
    made.b.argv = {"sh", "-c", b};
    made.variant_second = true;
    return made;
  }

  // Waits until the run is in one of the states; CTest's timeout is the limit.
  RunState wait_for(std::initializer_list<RunState> wanted) {
    while (true) {
      const RunState now = status_of(*launcher_, {"r-1"}).state;
      if (std::find(wanted.begin(), wanted.end(), now) != wanted.end()) return now;
      os::real_clock().sleep(std::chrono::milliseconds(10));
    }
  }
  void wait_for_file(const std::string& name) const {
    while (!os::exists(path(name))) os::real_clock().sleep(std::chrono::milliseconds(5));
  }
  pid_t worker_pid() const {
    return parse_json(*os::read_file(run_folder().started()))->at("pid").get<pid_t>();
  }
  pid_t pid_in(const std::string& name) const {
    return to_number<pid_t>(trim(*os::read_file(path(name)))).value_or(0);
  }
  void wait_for_death(pid_t pid) const {
    while (::kill(pid, 0) == 0) os::real_clock().sleep(std::chrono::milliseconds(5));
  }

  std::string folder_;
  std::unique_ptr<Launcher> launcher_;
};

}  // namespace amdahl::launch::local
