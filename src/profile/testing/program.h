// program.h: simulated programs of threads, streams and ranks with exactly known timing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/trace.h"
#include "profile/what_if.h"

namespace amdahl::profile {

enum class ActKind : std::uint8_t {
  kWork,          // The thread works, for the given reason.
  kSilence,       // Nothing is recorded: Python between operators.
  kLaunch,        // A kernel.
  kCopy,          // Asynchronous copy.
  kBlockingCopy,  // Blocking copy.
  kCollective,    // A kernel whose transfer starts when all ranks have arrived.
  kRecord,        // Records an event on a stream.
  kStreamWait,    // Makes a stream wait for an event.
  kSyncStream,    // The thread waits for a stream, an event, the device.
  kSyncEvent,
  kSyncDevice,
  kWake,   // Starts another thread, or wakes it from kSleep.
  kSleep,  // Until another thread wakes it.
  kBeginStep,
  kEndStep,
};

struct Act {
  ActKind kind = ActKind::kWork;
  Why why = Why::kHost;
  Nanos host{};    // Duration on the host, without waiting.
  Nanos device{};  // Duration on the device; for a collective, its transfer.
  int stream = 0;
  int event = 0;  // Event, signal or collective number.
  const char* kernel = "gemm";
};

struct Lags {
  Nanos launch{};        // From the start of the call to the start on an empty stream.
  Nanos queue{};         // From the end of one event to the start of the next.
  Nanos stream_wait{};   // From the end of what a stream waits for.
  std::size_t room = 0;  // Maximum launched but not started per stream; 0: unlimited.
};

struct ProgramRank {
  std::vector<std::vector<Act>> threads;
  Nanos clock{};  // Clock offset in the trace.
};

struct Program {
  Lags lags;
  std::vector<ProgramRank> ranks;
};

// What the profiler does not record.
struct Recording {
  bool syncs = true;  // Which streams and events were waited for.
};

struct Course {
  Nanos wall{};  // From 0 to the end of the last thread or device event.
  model::Trace trace;
};

// Runs the program with `change`: durations, lags and waits are scaled as WhatIf says. Aborts the
// test if the program cannot finish.
Course run(const Program& program, const WhatIf& change = {}, Recording recording = {});

}  // namespace amdahl::profile
