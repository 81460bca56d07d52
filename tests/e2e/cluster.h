// cluster.h: a real Slurm of two nodes with four GPUs each, for as long as a test runs.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "harness.h"

namespace amdahl::e2e {

class Cluster {
 public:
  explicit Cluster(const std::string& folder) : folder_{folder} {
    const Outcome began = run({kSandbox, "start", folder_}, {}, "/tmp");
    if (began.code == 77) reason_ = began.err;
    EXPECT_TRUE(began.code == 0 || began.code == 77) << began.err;
    runs_ = began.code == 0;
  }
  ~Cluster() {
    if (runs_) run({kSandbox, "stop", folder_}, {}, "/tmp");
  }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  bool runs() const { return runs_; }
  const std::string& reason() const { return reason_; }  // Why this machine cannot have one.
  const std::string& folder() const { return folder_; }
  std::string conf() const { return folder_ + "/etc/slurm.conf"; }

  void signal(const std::string& who, const std::string& signal) const {
    const Outcome done = run({kSandbox, "signal", folder_, who, signal}, {}, "/tmp");
    EXPECT_EQ(done.code, 0) << done.err;
  }
  void up(const std::string& who) const {
    const Outcome done = run({kSandbox, "up", folder_, who}, {}, "/tmp");
    EXPECT_EQ(done.code, 0) << done.err;
  }

 private:
  static constexpr const char* kSandbox = AMDAHL_SOURCE_DIR "/tests/tools/slurm_sandbox";
  std::string folder_;
  std::string reason_;
  bool runs_ = false;
};

}  // namespace amdahl::e2e
