// world.h: what outlives a killed process: the virtual time, and what the jobs leave to each other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cheats.h"
#include "os/clock.h"

namespace amdahl::adversary {

inline constexpr int kMostVariants = 8;

// Plain data, in memory that the processes of one seed share.
struct World {
  std::int64_t now_ns = 1'000'000'000'000;  // Monotonic.
  std::int64_t stepped_ns = 0;              // What the wall clock was moved by.
  std::int64_t sleeps = 0;                  // Of the present process.
  std::int64_t executions = 0;              // Runs that began,
  double used_s = 0;                        // and the accelerator-seconds that they took.
  std::int64_t resubmitted = 0;             // Runs that were handed over after their end.
  int ledger = 1;                           // The so manieth that lies beside the runs.
  Memory memory[kMostVariants];
  bool second_cycle_ran = false;  // Though another held the lease.
  bool alias_accepted = false;    // One change came in under two names.
  char problem[2000] = {};        // What the process said when it gave up.
};

// In a file that real jobs can find; zeros at first.
World* make_world(const std::string& folder);

// Nobody waits: sleeping moves the time, on to where something happens.
class VirtualClock final : public os::Clock {
 public:
  explicit VirtualClock(World& world) : world_{world} {}

  Nanos monotonic() override { return Nanos(world_.now_ns); }
  Nanos unix_time() override;
  void sleep(Nanos time) override;

  // When the next run ends; at most a minute is skipped.
  std::function<Nanos()> next_end;
  std::function<void()> on_sleep;

 private:
  World& world_;
};

}  // namespace amdahl::adversary
