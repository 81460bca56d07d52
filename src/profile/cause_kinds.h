// cause_kinds.h: kinds of causes in profiles: an id for programs, a name for people.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/profile.h"

namespace amdahl::profile {

struct CauseKind {
  std::string_view id;    // Written to the ledger and to JSON: never rename or reuse.
  std::string_view name;  // For people.
};

namespace causes {

inline constexpr CauseKind kCheckpoint{"lifecycle.checkpoint", "checkpoints"};
inline constexpr CauseKind kWarmup{"lifecycle.warmup", "warm-up"};
inline constexpr CauseKind kImports{"lifecycle.imports", "imports"};
inline constexpr CauseKind kStartup{"lifecycle.startup", "start-up"};
inline constexpr CauseKind kTeardown{"lifecycle.teardown", "teardown"};
inline constexpr CauseKind kLoading{"lifecycle.loading", "loading modules and libraries"};

inline constexpr CauseKind kInputWait{"input.wait", "waiting for input"};
inline constexpr CauseKind kCopiesIn{"input.copies_to_device", "copies to the device"};
inline constexpr CauseKind kExposedCopies{"input.exposed_copies", "copies that nothing hides"};

inline constexpr CauseKind kCollectives{"communication.collectives", "communication"};
inline constexpr CauseKind kExposedCollectives{"communication.exposed",
                                               "communication that nothing hides"};
inline constexpr CauseKind kStragglers{"communication.straggler", "waiting for slower ranks"};
inline constexpr CauseKind kOtherRanks{"communication.ranks", "waiting for other ranks"};
inline constexpr CauseKind kNetwork{"communication.network", "waiting for the network"};

inline constexpr CauseKind kLogging{"sync.logging", "logging"};
inline constexpr CauseKind kSync{"sync.calls", "synchronisation"};
inline constexpr CauseKind kDeviceWait{"sync.device", "the host waits for the device"};
inline constexpr CauseKind kDriverWait{"sync.driver", "waiting for the device"};
inline constexpr CauseKind kWrittenFiles{"sync.files", "waiting for written files"};

inline constexpr CauseKind kHostWork{"serial.host", "CPU work between launches"};
inline constexpr CauseKind kIdleDevices{"serial.idle_devices",
                                        "CPU work while the accelerators wait"};
inline constexpr CauseKind kLaunching{"serial.launch", "launching"};
inline constexpr CauseKind kGc{"serial.gc", "garbage collection"};
inline constexpr CauseKind kSleeping{"serial.sleep", "sleeping"};
inline constexpr CauseKind kOtherThread{"serial.thread", "waiting for another thread"};
inline constexpr CauseKind kProcesses{"serial.processes", "starting processes"};

inline constexpr CauseKind kCpuWait{"contention.cpu", "waiting for a CPU"};
inline constexpr CauseKind kOwnQuota{"contention.quota", "its own CPU quota"};
inline constexpr CauseKind kOwnThreads{"contention.own_threads",
                                       "more threads of its own than CPUs"};
inline constexpr CauseKind kOtherWork{"contention.host", "other work on the host"};
inline constexpr CauseKind kSteal{"contention.steal", "CPU time taken by the hypervisor"};

inline constexpr CauseKind kWokenThreads{"wakeups.threads", "threads put to sleep and woken"};
inline constexpr CauseKind kSpare{"allocation.spare", "more accelerators than it uses"};
inline constexpr CauseKind kKernel{"compute.kernels", "kernels"};
inline constexpr CauseKind kCompute{"compute.phase", "compute"};

inline constexpr CauseKind kQueued{"unknown.queue", "queued work that has not started"};
inline constexpr CauseKind kProfiler{"unknown.profiler", "the profiler itself"};
inline constexpr CauseKind kUnexplained{"unknown.unexplained", "waiting that nothing explains"};

}  // namespace causes

// A source line found by a rule of src/code: "code.item-in-loop".
inline constexpr std::string_view kInCode = "code.";

std::span<const CauseKind> cause_kinds();  // All of the above.

inline void set_kind(model::Cause& cause, const CauseKind& kind) {
  cause.id = kind.id;
  cause.name = kind.name;
}

// Finds the id by name, for causes recorded before ids existed.
void add_missing_id(model::Cause& cause);

}  // namespace amdahl::profile
