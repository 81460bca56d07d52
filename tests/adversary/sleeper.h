// sleeper.h: a place where pairs run without anyone waiting for them: on virtual time.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launch/launcher.h"
#include "launch/local/local.h"
#include "scenario.h"
#include "world.h"

namespace amdahl::adversary {

// Runs leave the folders, reports, outputs and receipts that the local launcher's do, and its own
// code reads them. What each run does is decided by the scenario and the run's name alone.
class Sleeper final : public launch::Launcher {
 public:
  // All must outlive it.
  Sleeper(const Scenario& scenario, World& world, VirtualClock& clock);

  std::vector<launch::SubmitAnswer> submit(std::span<const launch::PairRequest> requests) override;
  Result<> release(std::span<const launch::RunRef> runs) override;
  std::vector<launch::RunStatus> status(std::span<const launch::RunRef> runs) override;
  Result<launch::Capacity> capacity(const launch::PairRequest& like) override;
  Result<launch::Receipts> collect(const launch::RunRef& run) override;
  Result<> cancel(const launch::RunRef& run) override;
  Result<> kill(const launch::RunRef& run) override;

  // Of the runs that this process knows of; Nanos::max() if none is under way.
  Nanos next_end();

 private:
  struct Fate {
    Nanos starts{};
    Nanos ends{};
    bool lost = false;  // Its worker dies at the end.
  };

  void wait_for_disk();
  Result<> keep(const launch::PairRequest& request);
  Result<> start(const launch::RunRef& run);
  Result<launch::RunStatus> look_at(const launch::RunRef& run);
  Result<Fate> run(const launch::PairRequest& request, sim::Stream& luck);
  Result<std::optional<Fate>> fate_of(const std::string& reservation);
  void give_back(const Fate& fate, Nanos now);
  Result<> decree(const std::string& reservation, const Fate& fate);
  launch::RunState state_of(const launch::RunRef& run, const std::optional<Fate>& fate);
  launch::local::RunFolder folder_of(const std::string& reservation) const;

  const Scenario& scenario_;
  World& world_;
  VirtualClock& clock_;
  std::unique_ptr<launch::Launcher> local_;  // Reads what the runs left.
  std::map<std::string, Fate> under_way_;
};

}  // namespace amdahl::adversary
