// The names of the enumerators, as the ledger keeps them: never renamed, never reused.
#include <array>
#include <utility>

#include "base/check.h"
#include "model/hypothesis.h"
#include "model/pair.h"
#include "model/profile.h"
#include "model/receipt.h"

namespace amdahl::model {
namespace {

template <class Enum>
struct Row {
  Enum value;
  std::string_view name;
};

constexpr auto kEndings = std::to_array<Row<Ending>>({
    {Ending::kExited, "exited"},
    {Ending::kSignalled, "signalled"},
    {Ending::kTimeLimit, "time limit"},
    {Ending::kMemoryLimit, "memory limit"},
    {Ending::kCancelled, "cancelled"},
    {Ending::kNotStarted, "not started"},
});

constexpr auto kPurposes = std::to_array<Row<Purpose>>({
    {Purpose::kCompare, "compare"},
    {Purpose::kReplicate, "replicate"},
    {Purpose::kTopUp, "top-up"},
    {Purpose::kSame, "same"},
    {Purpose::kStack, "stack"},
    {Purpose::kProfile, "profile"},
    {Purpose::kRace, "race"},
    {Purpose::kBuild, "build"},
});

constexpr auto kNeverRuns = std::to_array<Row<NeverRuns>>({
    {NeverRuns::kNo, ""},
    {NeverRuns::kPatchDoesNotApply, "the patch does not apply"},
    {NeverRuns::kBuildFailed, "the build failed"},
    {NeverRuns::kDidNotEngage, "the injection did not engage"},
    {NeverRuns::kTooDear, "it costs several times its partner"},
    {NeverRuns::kCheckFailed, "the check failed"},
    {NeverRuns::kFrozenChange, "frozen code was changed"},
});

constexpr auto kPairStates = std::to_array<Row<PairState>>({
    {PairState::kOrdered, "ordered"},
    {PairState::kReserved, "reserved"},
    {PairState::kSubmitted, "submitted"},
    {PairState::kCollected, "collected"},
    {PairState::kVoid, "void"},
});

constexpr auto kStages = std::to_array<Row<Stage>>({
    {Stage::kCompare, "compare"},
    {Stage::kRefute, "refute"},
    {Stage::kTopUp, "top-up"},
    {Stage::kHold, "hold"},
    {Stage::kGate, "gate"},
});

constexpr auto kVerdicts = std::to_array<Row<VerdictKind>>({
    {VerdictKind::kPromoted, "promoted"},
    {VerdictKind::kDeclined, "declined"},
    {VerdictKind::kRefuted, "refuted"},
    {VerdictKind::kNoEffect, "no effect"},
    {VerdictKind::kHarmful, "harmful"},
    {VerdictKind::kInconclusive, "inconclusive"},
    {VerdictKind::kInvalid, "invalid"},
    {VerdictKind::kAborted, "aborted"},
    {VerdictKind::kDropped, "dropped"},
});

constexpr auto kAnswers = std::to_array<Row<Answer>>({
    {Answer::kBetter, "better"},
    {Answer::kWorse, "worse"},
    {Answer::kSame, "same"},
    {Answer::kCannotTell, "cannot tell yet"},
});

constexpr auto kVotes = std::to_array<Row<Vote>>({
    {Vote::kRefute, "refute"},
    {Vote::kAbstain, "abstain"},
    {Vote::kAgree, "agree"},
});

struct BottleneckRow {
  Bottleneck value;
  std::string_view name;
  std::string_view describes;
};

constexpr auto kBottlenecks = std::to_array<BottleneckRow>({
    {Bottleneck::kInput, "input", "data starvation"},
    {Bottleneck::kContention, "contention", "CPU contention"},
    {Bottleneck::kCommunication, "communication", "waiting for other ranks"},
    {Bottleneck::kLifecycle, "lifecycle", "start-up, checkpoint and teardown"},
    {Bottleneck::kSerial, "serial", "serial CPU work between launches"},
    {Bottleneck::kWakeups, "wakeups", "threads put to sleep and woken"},
    {Bottleneck::kSync, "sync", "logs, metrics and waits for the device"},
    {Bottleneck::kAllocation, "allocation", "more accelerators than it can use"},
    {Bottleneck::kCompute, "compute", "the accelerator computes"},
    {Bottleneck::kUnknown, "unknown", "unknown"},
});

template <class Rows, class Enum>
const auto& row_of(const Rows& rows, Enum value) {
  for (const auto& row : rows) {
    if (row.value == value) return row;
  }
  CHECK(!"an enumerator without a name");
  std::abort();
}

template <class Enum, std::size_t kCount>
std::optional<Enum> named(const std::array<Row<Enum>, kCount>& rows, std::string_view name) {
  for (const Row<Enum>& row : rows) {
    if (row.name == name) return row.value;
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(Ending ending) { return row_of(kEndings, ending).name; }
std::optional<Ending> ending_named(std::string_view name) { return named(kEndings, name); }

std::string_view name(Purpose purpose) { return row_of(kPurposes, purpose).name; }
std::optional<Purpose> purpose_named(std::string_view name) { return named(kPurposes, name); }

std::string_view name(NeverRuns why) { return row_of(kNeverRuns, why).name; }
std::optional<NeverRuns> never_runs_named(std::string_view name) { return named(kNeverRuns, name); }

std::string_view name(PairState state) { return row_of(kPairStates, state).name; }
std::optional<PairState> pair_state_named(std::string_view name) {
  return named(kPairStates, name);
}

std::string_view name(Stage stage) { return row_of(kStages, stage).name; }
std::optional<Stage> stage_named(std::string_view name) { return named(kStages, name); }

std::string_view name(VerdictKind kind) { return row_of(kVerdicts, kind).name; }
std::optional<VerdictKind> verdict_named(std::string_view name) { return named(kVerdicts, name); }

std::string_view name(Answer answer) { return row_of(kAnswers, answer).name; }
std::optional<Answer> answer_named(std::string_view name) { return named(kAnswers, name); }

std::string_view name(Vote vote) { return row_of(kVotes, vote).name; }
std::optional<Vote> vote_named(std::string_view name) { return named(kVotes, name); }

std::string_view name(Bottleneck bottleneck) { return row_of(kBottlenecks, bottleneck).name; }
std::string_view describe(Bottleneck bottleneck) {
  return row_of(kBottlenecks, bottleneck).describes;
}
Bottleneck bottleneck_named(std::string_view name) {
  for (const BottleneckRow& row : kBottlenecks) {
    if (row.name == name) return row.value;
  }
  return Bottleneck::kUnknown;
}

bool blocks_retry(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kPromoted:
    case VerdictKind::kDeclined:
    case VerdictKind::kRefuted:
    case VerdictKind::kNoEffect:
    case VerdictKind::kHarmful:
      return true;
    case VerdictKind::kInconclusive:
    case VerdictKind::kInvalid:
    case VerdictKind::kAborted:
    case VerdictKind::kDropped:
      return false;
  }
  return false;
}

}  // namespace amdahl::model
