#include "model/fleet.h"

#include <array>
#include <cstddef>

#include "base/check.h"

namespace amdahl::model {
namespace {

constexpr auto kJobStates = std::to_array<std::string_view>({
    "PENDING",
    "RUNNING",
    "COMPLETED",
    "CANCELLED",
    "FAILED",
    "TIMEOUT",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "OTHER",
});
static_assert(kJobStates.size() == static_cast<std::size_t>(JobState::kOther) + 1);

struct TroubleRow {
  Trouble trouble;
  std::string_view name;
  std::string_view what;
};

constexpr auto kTroubles = std::to_array<TroubleRow>({
    {Trouble::kStep, "job step",
     "Job steps (.batch, .extern, numbered) were skipped: the job's own record includes them."},
    {Trouble::kDuplicate, "duplicate record",
     "A repeated record was counted once. If two versions differ, the finished one is used."},
    {Trouble::kRequeued, "requeued attempt",
     "An earlier attempt of a requeued job was counted as a separate attempt."},
    {Trouble::kNoAccelerator, "job without accelerators",
     "Jobs without accelerators were skipped."},
    {Trouble::kNeverStarted, "job never started",
     "Jobs that never started were skipped: they held no accelerators."},
    {Trouble::kRunning, "running job",
     "A job without an end counts for the elapsed time that its scheduler reports, or else until "
     "the end of the window."},
    {Trouble::kBadTime, "bad time",
     "A record with an unreadable time, or with its end before its start, was skipped."},
    {Trouble::kAmbiguousTime, "ambiguous time",
     "A local time falls in the hour that daylight saving repeats. The elapsed time decided which "
     "hour is meant, or else the first was taken."},
    {Trouble::kSkew, "clock skew",
     "Samples labelled with a job, but outside its start and end, were not used."},
    {Trouble::kBlankValue, "blank value",
     "Placeholders for 'no value' (DCGM blanks, N/A, an empty cell) were not used."},
    {Trouble::kNotFinite, "not a finite number", "NaN or infinite values were not used."},
    {Trouble::kOutOfRange, "out of range", "Utilisation below 0 or above 1 was not used."},
    {Trouble::kLateSample, "late sample",
     "A sample that arrived after a newer one was sorted by its time."},
    {Trouble::kDuplicateSample, "duplicate sample",
     "A second sample for the same accelerator, metric and time was not used."},
    {Trouble::kNoJob, "sample without a job",
     "No known job held the accelerator at the time of the sample. With accounting data this is "
     "unallocated time."},
    {Trouble::kUnknownJob, "unknown job",
     "Samples labelled with a job that is not in the accounting data were not used."},
    {Trouble::kUnknownPlace, "unknown place",
     "The accelerators of the job within its hosts are unknown; its time counts as unobserved."},
    {Trouble::kBadLine, "unreadable record", "A record that cannot be parsed was skipped."},
    {Trouble::kTruncated, "truncated input",
     "The input is cut off; all complete records before the cut were used."},
    {Trouble::kMissing, "missing data",
     "A server did not return the data; that time counts as unobserved."},
    {Trouble::kOtherMetric, "other metric",
     "Metrics that do not measure how busy an accelerator is were skipped."},
    {Trouble::kUnknownDevice, "unknown device",
     "Samples name an accelerator by UUID only, and its index on the host is unknown. Add the "
     "output of `nvidia-smi -L` of each host."},
    {Trouble::kUnordered, "sample out of order",
     "Unsorted samples from a pipe were not used. Save them to a file: a file can be sorted."},
    {Trouble::kFarSample, "broken clock",
     "Samples with a time far from all other samples and from every job were not used."},
    {Trouble::kUnknownState, "unknown state",
     "A job with an unknown state was counted, but neither as failed nor as running."},
    {Trouble::kRepaired, "repaired record",
     "A record with a separator or a line end in its free text was repaired and used."},
    {Trouble::kOddElapsed, "odd elapsed time",
     "The elapsed time differs from end minus start. A shorter one (a suspended job) was used, a "
     "longer one was not."},
    {Trouble::kTwoZones, "same job in two time zones",
     "A job appears twice with all times shifted by the same hours. The first record was used. If "
     "one input is in local time, set --time-zone."},
    {Trouble::kDerivedStart, "start worked out",
     "A record has an end but no start. The start is the end minus the elapsed time; without an "
     "elapsed time it is the submit time, which includes the time in the queue."},
    {Trouble::kNoStart, "unknown start",
     "A record with an end, but no start, elapsed time or submit time, was skipped."},
    {Trouble::kRunaway, "runaway record",
     "A record is still RUNNING long after the job's time limit. The job counts up to the limit. "
     "To "
     "repair such records: sacctmgr show runawayjobs."},
});

const TroubleRow& row_of(Trouble trouble) {
  const auto index = static_cast<std::size_t>(trouble);
  CHECK(index < kTroubles.size() && kTroubles[index].trouble == trouble);
  return kTroubles[index];
}
static_assert(kTroubles.size() == kTroubleKinds);

}  // namespace

std::string_view name(JobState state) {
  const auto index = static_cast<std::size_t>(state);
  CHECK(index < kJobStates.size());
  return kJobStates[index];
}

bool is_lost(JobState state) {
  return state == JobState::kFailed || state == JobState::kTimeout ||
         state == JobState::kNodeFail || state == JobState::kOutOfMemory;
}

std::string_view name(Trouble trouble) { return row_of(trouble).name; }
std::string_view describe(Trouble trouble) { return row_of(trouble).what; }

}  // namespace amdahl::model
