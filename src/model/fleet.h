// fleet.h: what a cluster's accounting and telemetry say, before the two are joined into waste.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/units.h"

namespace amdahl::model {

enum class JobState : std::uint8_t {
  kPending,
  kRunning,
  kCompleted,
  kCancelled,
  kFailed,
  kTimeout,
  kNodeFail,
  kOutOfMemory,
  kPreempted,
  kOther,  // A state we do not know; its word is counted by the reader.
};
std::string_view name(JobState state);  // "COMPLETED": the words that schedulers use.
// FAILED, TIMEOUT, NODE_FAIL, OUT_OF_MEMORY: accelerator time that bought nothing.
bool is_lost(JobState state);

// One attempt of one job as a source tells it. The views live as long as the call that gives it.
struct JobDraft {
  std::string_view id;   // As people type it: "1234", "1234_7" (array), "1234+1" (het).
  std::string_view raw;  // The scheduler's own number of it (JobIDRaw); empty: as id.
  std::string_view name;
  std::string_view user;
  std::string_view account;
  std::string_view partition;
  std::string_view kind;    // Of accelerator: "a100"; empty if not said.
  std::string_view family;  // As the job itself said it (amdahl run); empty: it did not.
  std::string_view script;  // What it runs, where that is known: a command or a script's path.
  std::string_view hosts;   // As schedulers write it: "gpu[001-003,7],login1"; empty: not known.
  std::string_view reason;  // Why it ended as it did: "exit 1", "signal 9"; empty: not known.
  JobState state = JobState::kOther;
  Nanos submit{};           // Unix time; 0: not known.
  Nanos start{};            // 0: it never started.
  Nanos end{};              // 0: it still runs (or never ran).
  Nanos elapsed{-1};        // As the scheduler counted it; -1: not known. Wins over end - start.
  double accelerators = 0;  // May be a fraction (shared devices). 0: a job without.
  // Where accelerators are shared out in parts (gres/shard) and `accelerators` is 0: how many parts
  // it had. How many make one accelerator its hosts say.
  double shards = 0;
  int host_count = 0;  // 0: not known.
  // An average over the whole job, where a source has nothing finer. 0 to 1; NaN: not known.
  double mean_utilisation = std::numeric_limits<double>::quiet_NaN();
  std::string_view metric;  // Of mean_utilisation.
};

// Which accelerator a sample speaks of, and of which metric. Interned once a series.
struct SeriesKey {
  std::string_view host;         // Short name: no domain, no port.
  std::string_view accelerator;  // Its index on the host, or "" when only `uuid` is known.
  std::string_view uuid;
  std::string_view slice;      // MIG instance (GPU_I_ID); empty: the whole device.
  std::string_view job;        // Where the exporter says it (hpc_job, jobid, job_id); else empty.
  std::string_view metric;     // As the exporter calls it: "DCGM_FI_PROF_SM_ACTIVE".
  std::string_view kind;       // Model name, if said.
  std::string_view profile{};  // Of the slice: "1g.10gb"; empty: not said.
};

// What went wrong with input, counted by kind; never silent. Names are shown to people and tests.
enum class Trouble : std::uint8_t {
  kStep,             // Not trouble: .batch, .extern and numbered steps, passed over.
  kDuplicate,        // The same record again.
  kRequeued,         // An earlier attempt of a job, counted as its own attempt.
  kNoAccelerator,    // Not trouble: jobs without accelerators.
  kNeverStarted,     // Cancelled in the queue, or still waiting.
  kRunning,          // No end yet: it ran as long as its scheduler counted, or to the window's end.
  kBadTime,          // A time that cannot be read, or an end before its start.
  kAmbiguousTime,    // Local time in the hour that daylight saving repeats.
  kSkew,             // Samples outside what the clock of the accounting allows.
  kBlankValue,       // DCGM's "no value" numbers, N/A, empty cells.
  kNotFinite,        // NaN or infinite.
  kOutOfRange,       // Utilisation below 0 or above 1 (after units).
  kLateSample,       // Older than one already taken from the same series.
  kDuplicateSample,  // Same series, same time.
  kNoJob,            // A sample while nobody had the accelerator.
  kUnknownJob,       // A sample labelled with a job that accounting does not know.
  kUnknownPlace,     // A job whose accelerators cannot be told (no index), so not joined.
  kBadLine,          // A record that cannot be read at all.
  kTruncated,        // The input ends in the middle.
  kMissing,          // Data that a server did not give.
  kOtherMetric,      // A metric we do not use.
  kUnknownDevice,    // A sample of an accelerator known by a UUID that nothing gives a place to.
  kUnordered,        // A sample in no order of time, where it could not be put in order.
  kFarSample,        // A sample of a clock that was not set: far from all others and every job.
  kUnknownState,     // A job's state that is not known; the job counts.
  kRepaired,         // A record whose free text held a separator or a line end.
  kOddElapsed,       // An elapsed time that does not fit between start and end.
  kTwoZones,         // A job that came twice, some hours apart.
  kDerivedStart,     // A job that says when it ended, not when it began: worked out.
  kNoStart,          // The same, where that cannot be worked out.
  kRunaway,          // Said to run long past its time limit: counted up to the limit.
};
inline constexpr std::size_t kTroubleKinds = static_cast<std::size_t>(Trouble::kRunaway) + 1;
std::string_view name(Trouble trouble);      // "blank value".
std::string_view describe(Trouble trouble);  // One sentence on what was done with it.

}  // namespace amdahl::model
