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
     "Steps of a job (.batch, .extern, numbered) are parts of its record and were passed over."},
    {Trouble::kDuplicate, "duplicate record",
     "The same record came again and was counted once; of two that differ the finished one stays."},
    {Trouble::kRequeued, "requeued attempt",
     "An earlier attempt of a job was counted as an attempt of its own."},
    {Trouble::kNoAccelerator, "job without accelerators",
     "Jobs without accelerators have no accelerator time to waste and were passed over."},
    {Trouble::kNeverStarted, "job never started",
     "Jobs that never started held no accelerators and were passed over."},
    {Trouble::kRunning, "running job",
     "A job without an end was taken to run for as long as its scheduler had counted, and where "
     "that is not said until the end of the window."},
    {Trouble::kBadTime, "bad time",
     "A time cannot be read or an end lies before its start; the record was passed over."},
    {Trouble::kAmbiguousTime, "ambiguous time",
     "A local time falls in the hour that daylight saving repeats; the elapsed time decided where "
     "it could, else the first of the two hours was taken."},
    {Trouble::kSkew, "clock skew",
     "Samples that carry a job's label lie outside its times and were not used."},
    {Trouble::kBlankValue, "blank value",
     "A value that says 'no value' (DCGM blanks, N/A, an empty cell) was not used."},
    {Trouble::kNotFinite, "not a finite number", "NaN or infinite values were not used."},
    {Trouble::kOutOfRange, "out of range", "Utilisation below 0 or above 1 was not used."},
    {Trouble::kLateSample, "late sample",
     "A sample that came after a newer one was put in its place in time."},
    {Trouble::kDuplicateSample, "duplicate sample",
     "A second sample of the same accelerator, metric and time was not used."},
    {Trouble::kNoJob, "sample without a job",
     "Samples while no job is known to have held the accelerator: unallocated time, where "
     "accounting "
     "was given."},
    {Trouble::kUnknownJob, "unknown job",
     "Samples are labelled with a job that the accounting does not list; they were not used."},
    {Trouble::kUnknownPlace, "unknown place",
     "It is not known which accelerators of its hosts the job had; its time is unobserved."},
    {Trouble::kBadLine, "unreadable record", "A record that cannot be read was passed over."},
    {Trouble::kTruncated, "truncated input",
     "The input ends in the middle; what was whole before that was used."},
    {Trouble::kMissing, "missing data", "A server did not give the data; its time is unobserved."},
    {Trouble::kOtherMetric, "other metric",
     "Metrics that do not say how busy an accelerator is were passed over."},
    {Trouble::kUnknownDevice, "unknown device",
     "Samples name their accelerator by UUID alone, and nothing says which of its host's it is; "
     "`nvidia-smi -L` of each host does."},
    {Trouble::kUnordered, "sample out of order",
     "Samples of a pipe came in no order of time and were not used; save them to a file, which can "
     "be read again to put them in order."},
    {Trouble::kFarSample, "broken clock",
     "Samples far from all others in time, and from every job, were not used."},
    {Trouble::kUnknownState, "unknown state",
     "A job's state is none that is known; the job was counted, neither as lost nor as running."},
    {Trouble::kRepaired, "repaired record",
     "A record whose free text holds a separator or a line end was put together again, and used."},
    {Trouble::kOddElapsed, "odd elapsed time",
     "The elapsed time does not fit between start and end: less (a suspended job) was believed, "
     "more was not."},
    {Trouble::kTwoZones, "same job in two time zones",
     "A job came twice with all its times the same hours apart, and was counted once, as it came "
     "first; is one input in local time? --time-zone says of which."},
    {Trouble::kDerivedStart, "start worked out",
     "A record has an end but no start: the start is the end less the elapsed time, and where that "
     "is not said the time of submission, so that such a job counts with its time in the queue."},
    {Trouble::kNoStart, "unknown start",
     "A record has an end but neither a start nor what it could be worked out from; it was passed "
     "over."},
    {Trouble::kRunaway, "runaway record",
     "A record says RUNNING long after the job's time limit: its end was lost, and the job counts "
     "up to the limit (sacctmgr show runawayjobs mends such records)."},
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
