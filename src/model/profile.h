// profile.h: why a job's accelerators waited: evidence, causes, and the class of the bottleneck.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace amdahl::model {

// Names are written to the ledger and to playbook files: never renamed, never reused.
enum class Bottleneck : std::uint8_t {
  kInput,          // Data starvation: loading, decoding, copying in.
  kContention,     // Other work on the host, or too many of our own threads, take the CPU.
  kCommunication,  // Waiting for other ranks.
  kLifecycle,      // Start-up, imports, warm-up, checkpoint, teardown.
  kSerial,         // CPU work between launches while the accelerator waits.
  kWakeups,        // Threads put to sleep and woken all the time.
  kSync,           // The host waits for the device: logging, metrics, range checks.
  kAllocation,     // More accelerators than the job can use.
  kCompute,        // The accelerator computes: nothing is wasted by waiting.
  kUnknown,
};

std::string_view name(Bottleneck bottleneck);        // "input", "contention", ...
std::string_view describe(Bottleneck bottleneck);    // "data starvation", ...
Bottleneck bottleneck_named(std::string_view name);  // kUnknown if there is none.

struct Cause {
  std::string id;    // "lifecycle.startup", for programs; of several in one, the largest.
  std::string name;  // "start-up", "waiting for input", for people.
  Bottleneck bottleneck = Bottleneck::kUnknown;
  double accelerator_seconds = 0;  // Of the job's allocated time.
  double share = 0;                // Of the job's allocated time.
  double ceiling = 1;              // Speed-up if it vanished: 1/(1-share).
  std::string because;             // The numbers it was concluded from.

  friend bool operator==(const Cause&, const Cause&) = default;
};

struct Profile {
  std::string id;
  std::string family;
  std::string baseline;  // Digest of the plan that was profiled.
  Nanos at{};            // Unix time.
  Nanos wall{};
  int accelerators = 1;
  std::map<std::string, double> evidence;  // Names in docs/format/evidence.md.
  std::vector<Cause> causes;               // Largest first.
  Bottleneck bottleneck = Bottleneck::kUnknown;
  std::string rule;                  // Why that class: the rule and its numbers.
  std::vector<std::string> missing;  // Evidence that could not be had, and why.

  friend bool operator==(const Profile&, const Profile&) = default;
};

}  // namespace amdahl::model
