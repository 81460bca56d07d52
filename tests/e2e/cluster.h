// cluster.h: a real scheduler on this machine, for as long as a test runs.
#pragma once

#include <map>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "harness.h"

namespace amdahl::e2e {

// Slurm of two nodes with four GPUs each, or another sandbox of tests/tools.
class Cluster {
 public:
  explicit Cluster(const std::string& folder, const std::string& sandbox = "slurm_sandbox")
      : folder_{folder}, sandbox_{source_path("/tests/tools/") + sandbox} {
    const Outcome began = run({sandbox_, "start", folder_}, {}, "/tmp");
    if (began.code == 77) reason_ = began.err;
    EXPECT_TRUE(began.code == 0 || began.code == 77) << began.err;
    runs_ = began.code == 0;
    std::istringstream words(began.out);
    for (std::string word; words >> word;) {
      const auto equals = word.find('=');
      if (equals != word.npos) env_[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  ~Cluster() {
    if (runs_) run({sandbox_, "stop", folder_}, {}, "/tmp");
  }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  bool runs() const { return runs_; }
  const std::string& reason() const { return reason_; }  // Why this machine cannot have one.
  const std::string& folder() const { return folder_; }
  const std::map<std::string, std::string>& env() const { return env_; }  // For its clients.
  std::string conf() const { return folder_ + "/etc/slurm.conf"; }

  void signal(const std::string& who, const std::string& signal) const {
    const Outcome done = run({sandbox_, "signal", folder_, who, signal}, {}, "/tmp");
    EXPECT_EQ(done.code, 0) << done.err;
  }
  void up(const std::string& who) const {
    const Outcome done = run({sandbox_, "up", folder_, who}, {}, "/tmp");
    EXPECT_EQ(done.code, 0) << done.err;
  }

 private:
  std::string folder_;
  std::string sandbox_;
  std::map<std::string, std::string> env_;
  std::string reason_;
  bool runs_ = false;
};

}  // namespace amdahl::e2e
