#include "app/campaign.h"

#include <algorithm>
#include <tuple>

#include "app/stack.h"

namespace amdahl::app {

Result<CampaignStory> read_campaign(Context& context, std::optional<double> price) {
  CampaignStory story;
  story.roi = TRY(return_on_investment(context, price));
  story.stacks = TRY(latest_stacks(context));
  story.campaign = TRY(context.ledger->campaign());
  for (ledger::HypothesisRow& row : TRY(context.ledger->hypotheses("", ""))) {
    std::optional<model::Verdict> verdict = TRY(context.ledger->verdict(row.hypothesis.id));
    story.ideas.push_back({std::move(row), std::move(verdict)});
  }
  const auto rank = [](const TriedIdea& idea) {
    const bool measured = idea.verdict && idea.verdict->comparison;
    return std::tuple(idea.row.state != "promoted", !measured,
                      measured ? -idea.verdict->comparison->effect : 0.0);
  };
  std::ranges::stable_sort(story.ideas, {}, rank);
  return story;
}

}  // namespace amdahl::app
