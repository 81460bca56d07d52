#include "launch/launcher.h"

#include <algorithm>
#include <array>

namespace amdahl::launch {
namespace {

struct StateRow {
  RunState state;
  std::string_view name;
  bool infrastructure = false;
};

constexpr auto kStates = std::to_array<StateRow>({
    {RunState::kUnknown, "unknown"},
    {RunState::kAbsent, "absent"},
    {RunState::kHeld, "held"},
    {RunState::kQueued, "queued"},
    {RunState::kRunning, "running"},
    {RunState::kFinished, "finished"},
    {RunState::kLost, "lost"},
    {RunState::kRequeued, "requeued", true},
    {RunState::kPreempted, "preempted", true},
    {RunState::kNodeFailed, "node failed", true},
    {RunState::kTimedOut, "timed out"},
    {RunState::kOutOfMemory, "out of memory"},
    {RunState::kForeign, "foreign"},
});

}  // namespace

std::string_view name(RunState state) {
  return std::ranges::find(kStates, state, &StateRow::state)->name;
}

std::optional<RunState> run_state_named(std::string_view name) {
  const auto row = std::ranges::find(kStates, name, &StateRow::name);
  return row == kStates.end() ? std::nullopt : std::optional(row->state);
}

bool is_infrastructure(RunState state) {
  return std::ranges::find(kStates, state, &StateRow::state)->infrastructure;
}

Result<std::string> hand_over(Launcher& launcher, const PairRequest& request) {
  const SubmitAnswer answer = launcher.submit(std::span(&request, 1)).front();
  if (answer.handover != Handover::kAccepted) return external(answer.reason);
  const RunRef run{request.reservation, request.ticket};
  TRY(launcher.release(std::span(&run, 1)));
  return answer.worker;
}

RunStatus status_of(Launcher& launcher, const RunRef& run) {
  return launcher.status(std::span(&run, 1)).front();
}

}  // namespace amdahl::launch
