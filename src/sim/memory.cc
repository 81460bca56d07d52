#include "sim/memory.h"

#include <algorithm>

#include "refute/check.h"

namespace amdahl::sim {

std::uint32_t bit_of(const std::string& check) {
  const auto all = refute::checks();
  const auto it = std::ranges::find(all, check, &refute::Check::id);
  return it == all.end() ? 0 : 1U << static_cast<unsigned>(it - all.begin());
}

Memory::Memory(Campaign& campaign, std::uint64_t seed)
    : campaign_{campaign}, seeds_{seed, kSeeds} {}

Result<> Memory::remember(std::string_view, std::span<const loop::LoopEvent> together) {
  for (const loop::LoopEvent& event : together) {
    std::visit([this](const auto& one) { keep(one); }, event);
  }
  return Ok{};
}

Outcome& Memory::of(const std::string& id) {
  return campaign_.outcomes.at(static_cast<std::size_t>(number_in(id)));
}

void Memory::keep(const loop::Staged& staged) {
  Outcome& outcome = of(staged.experiment);
  outcome.evidence |= staged.stage == model::Stage::kRefute;
  outcome.held = staged.stage == model::Stage::kHold;
}

void Memory::keep(const loop::Voted& voted) {
  Outcome& outcome = of(voted.experiment);
  const std::uint32_t bit = bit_of(voted.finding.check);
  const bool against = voted.finding.vote == model::Vote::kRefute;
  outcome.refuted_by = against ? outcome.refuted_by | bit : outcome.refuted_by & ~bit;
  const bool open = voted.finding.mandatory && voted.finding.vote == model::Vote::kAbstain;
  outcome.unanswered = open ? outcome.unanswered | bit : outcome.unanswered & ~bit;
  if (voted.finding.decisive) outcome.decisively |= bit;
}

void Memory::keep(const loop::Compared& compared) {
  Outcome& outcome = of(compared.experiment);
  outcome.level |= compared.comparison.log_e_win >= log_level;
  outcome.estimate = compared.comparison.effect;
  outcome.shrunk = compared.comparison.shrunk;
  outcome.lower = compared.comparison.lower;
}

void Memory::keep(const loop::Judged& judged) {
  Outcome& outcome = of(judged.verdict.hypothesis);
  outcome.verdict = judged.verdict.kind;
  outcome.promoted |= judged.verdict.kind == model::VerdictKind::kPromoted;
  outcome.held = false;
}

void Memory::keep(const loop::RolledBack& rolled) {
  baselines[rolled.family] = rolled.baseline;
  of(rolled.hypothesis).rolled_back = true;
}

void Memory::keep(const loop::Reopened& reopened) { of(reopened.hypothesis).reopened = true; }

}  // namespace amdahl::sim
