// Targeted pairs: which checks and which attacks of models get them, and how many.
#include <algorithm>
#include <iterator>
#include <set>

#include "loop/evidence.h"
#include "loop/experiments.h"

namespace amdahl::loop {
namespace {

constexpr int kExtraTopUps = 4;  // Void pairs that a targeted top-up may replace.

int count_of(const std::map<std::string, int>& counts, const std::string& check) {
  const auto it = counts.find(check);
  return it == counts.end() ? 0 : it->second;
}

}  // namespace

std::vector<std::string> Experiments::unsettled(const Track& track,
                                                std::span<const model::Finding> votes,
                                                const refute::Evidence& known) const {
  std::vector<std::string> checks;
  for (const model::Finding& vote : votes) {
    const int good = count_of(track.bought, vote.check) - count_of(track.spoiled, vote.check);
    if (good > 0 && vote.vote == model::Vote::kAbstain &&
        good < refute::target_of(vote.check).enough) {
      checks.push_back(vote.check);
    }
  }
  return refute::helped_by_pairs(checks, known);
}

std::map<std::string, int> Experiments::wanted(const Track& track,
                                               std::span<const model::Finding> votes,
                                               const refute::Evidence& known) const {
  std::map<std::string, int> wanted;
  std::vector<std::string> checks = targets_of(votes, known, state_.settings.other_contention);
  std::ranges::copy(refute::helped_by_pairs(track.attacked_by, known), std::back_inserter(checks));
  std::ranges::copy(unsettled(track, votes, known), std::back_inserter(checks));
  for (const std::string& check : checks) {
    const int pairs = refute::target_of(check, known).pairs;
    const int good = count_of(track.bought, check) - count_of(track.spoiled, check);
    wanted[check] = pairs * std::max(1, (good + pairs - 1) / pairs);
  }
  return wanted;
}

std::map<std::string, int> Experiments::once_more(const Track& track,
                                                  std::span<const model::Finding> votes,
                                                  const refute::Evidence& known) const {
  std::map<std::string, int> more = wanted(track, votes, known);
  std::erase_if(more, [&](const auto& one) {
    const refute::Target target = refute::target_of(one.first, known);
    return one.second >= target.most * target.enough;
  });
  // What an attack asked for it gets once.
  std::vector<std::string> open = targets_of(votes, known, state_.settings.other_contention);
  std::ranges::copy(unsettled(track, votes, known), std::back_inserter(open));
  for (const std::string& check : std::set<std::string>(open.begin(), open.end())) {
    const auto it = more.find(check);
    if (it == more.end() || count_of(track.bought, check) == 0) continue;
    it->second += refute::target_of(check, known).pairs;
  }
  return missing(track, more);
}

std::map<std::string, int> Experiments::missing(const Track& track,
                                                const std::map<std::string, int>& wanted) const {
  std::map<std::string, int> missing;
  for (const auto& [check, pairs] : wanted) {
    const int tried = count_of(track.bought, check);
    const int left =
        std::min(pairs - tried + count_of(track.spoiled, check), pairs + kExtraTopUps - tried);
    if (left > 0) missing[check] = left;
  }
  return missing;
}

void Experiments::attacked(const std::string& experiment, std::vector<std::string> checks,
                           int open) {
  Track& track = tracks_.at(experiment);
  std::erase_if(checks, [](const std::string& check) {
    return std::ranges::find(refute::checks(), check, &refute::Check::id) == refute::checks().end();
  });
  track.attacked_by = std::move(checks);
  state_of(track).attacks_open = open;
  track.wanted.clear();
  refresh(track);
}

}  // namespace amdahl::loop
