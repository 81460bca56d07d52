#include <algorithm>
#include <array>

#include "model/canary.h"
#include "model/codec_fields.h"

namespace amdahl::model {
namespace {

struct StateName {
  CanaryState state;
  std::string_view name;
};
constexpr auto kCanaryStates = std::to_array<StateName>({
    {CanaryState::kOpen, "open"},
    {CanaryState::kKept, "kept"},
    {CanaryState::kRollbackProposed, "rollback proposed"},
    {CanaryState::kRolledBack, "rolled back"},
});

}  // namespace

std::string_view name(CanaryState state) {
  return std::ranges::find(kCanaryStates, state, &StateName::state)->name;
}

std::optional<CanaryState> canary_state_named(std::string_view text) {
  const auto row = std::ranges::find(kCanaryStates, text, &StateName::name);
  if (row == kCanaryStates.end()) return std::nullopt;
  return row->state;
}

bool read_name(std::string_view text, CanaryState& out) {
  return take(canary_state_named(text), out);
}

template <class Io, Is<Canary> T>
constexpr void fields(Io& io, T& canary) {
  io.must("hypothesis", canary.hypothesis);
  io.must("family", canary.family);
  io.must("seed", canary.seed);
  io.must("number", canary.number);
  io("one_in", canary.one_in);
  io("wanted_runs", canary.wanted_runs);
  io("promised", canary.promised);
  io("sigma", canary.sigma);
  io("past_runs", canary.past_runs);
  io("past_failed", canary.past_failed);
  io("straggles_from", canary.straggles_from);
  io("past_stragglers", canary.past_stragglers);
  io("before", canary.before);
  io("after", canary.after);
  io("opened_ns", canary.opened);
}

template <class Io, Is<CanaryResult> T>
constexpr void fields(Io& io, T& result) {
  io.must("hypothesis", result.hypothesis);
  io.must("outcome", result.outcome);
  io("because", result.because);
  io("comparison", result.comparison);
  io("log_e_half", result.log_e_half);
  io("runs", result.runs);
  io("failed", result.failed);
  io("held_back", result.held_back);
  io("held_back_failed", result.held_back_failed);
  io("running", result.running);
  io("lost", result.lost);
  io("usual_failures", result.usual_failures);
  io("log_e_failing", result.log_e_failing);
  io("stragglers", result.stragglers);
  io("log_e_straggling", result.log_e_straggling);
}

template Json encode(const Canary&);
template Result<Canary> decode(const Json&);
template Result<Canary> decode_text(std::string_view);
template Json encode(const CanaryResult&);
template Result<CanaryResult> decode(const Json&);
template Result<CanaryResult> decode_text(std::string_view);

}  // namespace amdahl::model
