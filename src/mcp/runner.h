// runner.h: runs cycles for a client, one at a time, within what a person granted.
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
  std::vector<std::string> command;              // The job that may be adopted; empty: none.
  std::string family;                            // What to call it; empty: from its name.
  int accelerators = 0;                          // That the job may use; 0: all.
  Nanos time = std::chrono::hours(1);            // Of cycles of this session, together.
  std::optional<double> accelerator_hours = {};  // On top of what is spent already.
  std::optional<double> usd = {};
};

enum class Work : std::uint8_t { kAdopt, kProfile, kTest };

// May be called from several threads.
class Runner {
 public:
  Runner(app::Config config, Grant grant);
  ~Runner();  // Ends the cycle after its step; runs in flight go on, the next cycle takes them.
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // kBudget if the grant is used up, kBusy if other work is under way; the same work is not begun
  // twice. `at_most`: nothing new is begun after this time.
  Result<> begin(Work work, const std::string& family, Nanos at_most);

  bool is_running();
  const Grant& grant() const { return grant_; }
  // What runs, what was said last, how the last work ended, what is left of the grant.
  Json state();

 private:
  struct Last {
    std::string family;
    std::string what;     // "adopt", "profile", "test".
    std::string outcome;  // Of what ended; empty while it runs.
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
  Nanos used_{};   // By work that ended.
  Nanos began_{};  // Of what runs.
  std::optional<double> spent_before_s_;
  std::optional<double> spent_before_usd_;
  Last last_;
};

}  // namespace amdahl::mcp
