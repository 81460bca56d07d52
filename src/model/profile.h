// profile.h: why a job's accelerators waited: evidence, causes and bottleneck class.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace amdahl::model {

// Names are written to the ledger and to playbook files: never rename or reuse one.
enum class Bottleneck : std::uint8_t {
  kInput,          // Data starvation: loading, decoding, copying to the device.
  kContention,     // Other work on the host, or too many of the job's own threads.
  kCommunication,  // Waits for other ranks.
  kLifecycle,      // Start-up, imports, warm-up, checkpoints, teardown.
  kSerial,         // CPU work between launches while the accelerator waits.
  kWakeups,        // Threads that sleep and wake all the time.
  kSync,           // The host waits for the device: logging, metrics, range checks.
  kAllocation,     // More accelerators than the job can use.
  kCompute,        // The accelerator computes; it does not wait.
  kUnknown,
};

std::string_view name(Bottleneck bottleneck);        // "input", "contention", ...
std::string_view describe(Bottleneck bottleneck);    // "data starvation", ...
Bottleneck bottleneck_named(std::string_view name);  // kUnknown if no class has that name.

struct Cause {
  std::string id;    // For programs: "lifecycle.startup". The largest one if several were merged.
  std::string name;  // For people: "start-up", "waiting for input".
  Bottleneck bottleneck = Bottleneck::kUnknown;
  double accelerator_seconds = 0;  // Within the job's allocated time.
  double share = 0;                // Of the job's allocated time, 0 to 1.
  double ceiling = 1;              // Speed-up if the cause vanished: 1/(1-share).
  std::string because;             // The numbers that support it.

  friend bool operator==(const Cause&, const Cause&) = default;
};

struct Profile {
  std::string id;
  std::string family;
  std::string baseline;  // Digest of the plan that was profiled.
  Nanos at{};            // Unix time.
  Nanos wall{};
  int accelerators = 1;
  std::map<std::string, double> evidence;  // Names: docs/format/evidence.md.
  std::vector<Cause> causes;               // Largest first.
  Bottleneck bottleneck = Bottleneck::kUnknown;
  std::string rule;                  // Why this class: the rule and its numbers.
  std::vector<std::string> missing;  // Evidence that is missing, and why.

  friend bool operator==(const Profile&, const Profile&) = default;
};

}  // namespace amdahl::model
