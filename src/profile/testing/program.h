// program.h: programs of threads, streams and ranks whose course is known to the nanosecond.
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
  kWork,          // The thread is at something, called by its reason.
  kSilence,       // Nothing is recorded: Python between operators.
  kLaunch,        // A kernel.
  kCopy,          // A copy that the call does not wait for.
  kBlockingCopy,  // A copy that it waits for.
  kCollective,    // A kernel that begins its transfer when all ranks are there.
  kRecord,        // An event on a stream.
  kStreamWait,    // A stream waits for an event.
  kSyncStream,    // The thread waits for a stream, an event, the device.
  kSyncEvent,
  kSyncDevice,
  kWake,   // Lets another thread begin, or go on after its kSleep.
  kSleep,  // Until that is done by another thread.
  kBeginStep,
  kEndStep,
};

struct Act {
  ActKind kind = ActKind::kWork;
  Why why = Why::kHost;
  Nanos host{};    // The work or the call takes this, waiting apart.
  Nanos device{};  // What it launches takes this; a collective's transfer.
  int stream = 0;
  int event = 0;  // Recorded or awaited; or the number of the signal, or of the collective.
  const char* kernel = "gemm";
};

struct Lags {
  Nanos launch{};        // From the start of the call to the start on a free stream.
  Nanos queue{};         // From the end of one to the start of the next.
  Nanos stream_wait{};   // From the end of what a stream waits for.
  std::size_t room = 0;  // So much may be launched on a stream and not started; 0: any number.
};

struct ProgramRank {
  std::vector<std::vector<Act>> threads;
  Nanos clock{};  // It is ahead by this in the trace.
};

struct Program {
  Lags lags;
  std::vector<ProgramRank> ranks;
};

// What a profiler is told to leave out.
struct Recording {
  bool syncs = true;  // Which streams and events were waited for.
};

struct Course {
  Nanos wall{};  // From 0 to the end of the last thread or device event.
  model::Trace trace;
};

// Runs the program with `change` made to it: durations, lags and waits scaled as WhatIf says.
// Stops the test if the program cannot end.
Course run(const Program& program, const WhatIf& change = {}, Recording recording = {});

}  // namespace amdahl::profile
