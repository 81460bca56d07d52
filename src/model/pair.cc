#include "model/pair.h"

#include <fmt/core.h>

namespace amdahl::model {

// Only these carry a target into the ledger's word; that of an A/A pair is in its fact.
std::string text_of(const Aim& aim) {
  const bool shown = aim.purpose == Purpose::kTopUp || aim.purpose == Purpose::kStack ||
                     aim.purpose == Purpose::kRace || aim.purpose == Purpose::kBuild;
  if (!shown || aim.target.empty()) return std::string(name(aim.purpose));
  return fmt::format("{}:{}", name(aim.purpose), aim.target);
}

std::string label_of(const Pair& run) {
  switch (run.aim.purpose) {
    case Purpose::kCompare:
      return fmt::format("pair {}", run.index);
    case Purpose::kReplicate:
      return fmt::format("fresh pair {}", run.index);
    case Purpose::kTopUp:
      return fmt::format("targeted pair {} ({})", run.index, run.aim.target);
    case Purpose::kSame:
      return fmt::format("A/A pair {}", run.index);
    case Purpose::kStack:
      return fmt::format("pair {} of all changes", run.index);
    case Purpose::kRace:
      return fmt::format("race pair {}", run.index);
    case Purpose::kProfile:
    case Purpose::kBuild:
      break;
  }
  return fmt::format("{} {}", name(run.aim.purpose), run.index);
}

std::optional<Aim> aim_in(std::string_view text) {
  const auto colon = text.find(':');
  const auto purpose = purpose_named(text.substr(0, colon));
  if (!purpose) return std::nullopt;
  return Aim{*purpose, colon == text.npos ? "" : std::string(text.substr(colon + 1))};
}

bool feeds_evidence(Purpose purpose) {
  switch (purpose) {
    case Purpose::kCompare:
    case Purpose::kReplicate:
      return true;
    case Purpose::kTopUp:
    case Purpose::kSame:
    case Purpose::kStack:
    case Purpose::kProfile:
    case Purpose::kRace:
    case Purpose::kBuild:
      return false;
  }
  return false;
}

bool in_flight(const Pair& pair) {
  return pair.state == PairState::kReserved || pair.state == PairState::kSubmitted;
}

Pair pair_of(const SharedVariant& variant, const Pair& leader) {
  Pair pair = leader;
  pair.experiment = variant.experiment;
  pair.aim = variant.aim;
  pair.index = variant.index;
  pair.variant_second = variant.variant_second;
  pair.b = variant.change;
  pair.shared.clear();
  return pair;
}

}  // namespace amdahl::model
