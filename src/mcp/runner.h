// runner.h: runs cycles for a client, one at a time, within a person's grant.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/config.h"
#include "base/json.h"
#include "base/result.h"
#include "base/units.h"

namespace amdahl::mcp {

// What the person who connects the client allows.
struct Grant {
  std::vector<std::string> command;              // Job that may be adopted; empty: none.
  std::string family;                            // Its name; empty: derived.
  int accelerators = 0;                          // For the job; 0: all.
  Nanos time = std::chrono::hours(1);            // Total for cycles of this session.
  std::optional<double> accelerator_hours = {};  // In addition to what is already spent.
  std::optional<double> usd = {};
};

enum class Work : std::uint8_t { kAdopt, kProfile, kTest };

// Thread-safe.
class Runner {
 public:
  Runner(app::Config config, Grant grant);
  ~Runner();  // Ends the cycle after its step; the next cycle adopts runs in flight.
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // kBudget if the grant is used up, kBusy if other work is running; the same work is not started
  // twice. `at_most`: nothing new is started after this time.
  Result<> begin(Work work, const std::string& family, Nanos at_most);

  bool is_running();
  const Grant& grant() const { return grant_; }
  // Current work, last message, result of the last work, and the rest of the grant.
  Json state();

 private:
  struct Last {
    std::string family;
    std::string what;     // "adopt", "profile", "test".
    std::string outcome;  // Of finished work; empty while it runs.
    std::vector<std::string> said;
  };

  void say(const std::string& line);
  std::string run(Work work, const std::string& family, Nanos at_most);
  Result<app::Config> limited(const std::string& family);
  Nanos used();

  app::Config config_;
  Grant grant_;
  std::mutex mutex_;
  std::thread thread_;
  std::atomic<bool> running_ = false;
  std::atomic<bool> stop_ = false;
  Nanos used_{};   // By finished work.
  Nanos began_{};  // Of current work.
  std::optional<double> spent_before_s_;
  std::optional<double> spent_before_usd_;
  Last last_;
};

}  // namespace amdahl::mcp
