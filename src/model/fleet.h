// fleet.h: a cluster's accounting and telemetry records, before they are joined into waste.
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
  kOther,  // Unknown state; the reader counts its name.
};
std::string_view name(JobState state);  // "COMPLETED": the schedulers' own names.
// FAILED, TIMEOUT, NODE_FAIL, OUT_OF_MEMORY: accelerator time without a result.
bool is_lost(JobState state);

// One attempt of one job as reported by a source. The views are valid only during the call.
struct JobDraft {
  std::string_view id;   // As users type it: "1234", "1234_7" (array), "1234+1" (heterogeneous).
  std::string_view raw;  // The scheduler's internal id (JobIDRaw); empty: same as id.
  std::string_view cluster;  // Each cluster numbers its jobs on its own; empty: unknown.
  std::string_view name;
  std::string_view user;
  std::string_view account;
  std::string_view partition;
  std::string_view kind;    // Accelerator model: "a100"; empty: unknown.
  std::string_view family;  // As reported by the job (amdahl run); empty: not reported.
  std::string_view script;  // Command or script path, if known.
  std::string_view hosts;   // Slurm host list: "gpu[001-003,7],login1"; empty: unknown.
  std::string_view reason;  // Why it ended: "exit 1", "signal 9"; empty: unknown.
  JobState state = JobState::kOther;
  Nanos submit{};  // Unix time; 0: unknown.
  Nanos start{};   // 0: it never started.
  Nanos end{};     // 0: still running, or never ran.
  // As counted by the scheduler; -1: unknown. Takes precedence over end - start.
  Nanos elapsed{-1};
  double accelerators = 0;  // May be a fraction (shared devices). 0: a job without accelerators.
  // Shares of accelerators (gres/shard), used if `accelerators` is 0. The job's hosts say how many
  // shares make one accelerator.
  double shards = 0;
  int host_count = 0;  // 0: unknown.
  // Average over the whole job, for sources without samples. 0 to 1; NaN: unknown.
  double mean_utilisation = std::numeric_limits<double>::quiet_NaN();
  std::string_view metric;  // Metric of mean_utilisation.
};

// The accelerator and the metric of a series of samples. Interned once per series.
struct SeriesKey {
  std::string_view host;         // Short name: no domain, no port.
  std::string_view accelerator;  // Index on the host; "" if only `uuid` is known.
  std::string_view uuid;
  std::string_view slice;  // MIG instance (GPU_I_ID); empty: the whole device.
  std::string_view job;  // Job id, if the exporter reports it (hpc_job, jobid, job_id); else empty.
  std::string_view metric;     // Exporter's name: "DCGM_FI_PROF_SM_ACTIVE".
  std::string_view kind;       // Model name, if known.
  std::string_view profile{};  // MIG profile of the slice: "1g.10gb"; empty: unknown.
};

// Input that was skipped or adjusted, counted by kind. The names appear in reports and tests.
enum class Trouble : std::uint8_t {
  kStep,             // Expected: .batch, .extern and numbered steps are skipped.
  kDuplicate,        // The same record again.
  kRequeued,         // An earlier attempt of a job; counts as its own attempt.
  kNoAccelerator,    // Expected: a job without accelerators.
  kNeverStarted,     // Cancelled in the queue, or still waiting.
  kRunning,          // No end yet: counted up to the scheduler's elapsed time or the window's end.
  kBadTime,          // An unreadable time, or an end before the start.
  kAmbiguousTime,    // Local time in the hour that daylight saving repeats.
  kSkew,             // Samples outside the range that the accounting's clock allows.
  kBlankValue,       // DCGM's blank values, N/A, empty cells.
  kNotFinite,        // NaN or infinite.
  kOutOfRange,       // Utilisation below 0 or above 1, after conversion.
  kLateSample,       // Older than a sample already read from the same series.
  kDuplicateSample,  // Same series, same time.
  kNoJob,            // A sample of an accelerator that no job had at the time.
  kUnknownJob,       // A sample labelled with a job that is not in the accounting.
  kUnknownPlace,     // A job without accelerator indices; its samples cannot be joined.
  kBadLine,          // An unreadable record.
  kTruncated,        // The input ends in the middle of a record.
  kMissing,          // Data that a server did not return.
  kOtherMetric,      // A metric we do not use.
  kUnknownDevice,    // A sample with a UUID that no record maps to a host and index.
  kUnordered,        // A sample out of time order that could not be sorted.
  kFarSample,        // A sample far from all others and all jobs: the clock was not set.
  kUnknownState,     // A job with an unknown state; the job still counts.
  kRepaired,         // A record whose free text contained a separator or newline.
  kOddElapsed,       // An elapsed time that does not fit between start and end.
  kTwoZones,         // The same job twice, some hours apart: two time zones.
  kDerivedStart,     // A job with an end but no start; the start was derived.
  kNoStart,          // The same, but the start could not be derived.
  kRunaway,          // Ran far past its time limit; counted up to the limit.
};
inline constexpr std::size_t kTroubleKinds = static_cast<std::size_t>(Trouble::kRunaway) + 1;
std::string_view name(Trouble trouble);      // "blank value".
std::string_view describe(Trouble trouble);  // One sentence: how it was handled.

}  // namespace amdahl::model
