#include "app/campaign.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "app/stack.h"
#include "app/status.h"

namespace amdahl::app {

Result<CampaignStory> read_campaign(Context& context, std::optional<double> price) {
  CampaignStory story;
  story.roi = TRY(return_on_investment(context, price));
  story.stacks = TRY(latest_stacks(context));
  story.campaign = TRY(context.ledger->campaign());
  const std::map<std::string, Parked> waiting = TRY(parked(context));
  for (ledger::HypothesisRow& row : TRY(context.ledger->hypotheses("", ""))) {
    TriedIdea idea{std::move(row), {}, {}};
    idea.verdict = TRY(context.ledger->verdict(idea.row.hypothesis.id));
    if (idea.verdict) idea.comparison = idea.verdict->comparison;
    if (const auto it = waiting.find(idea.row.hypothesis.id); it != waiting.end()) {
      idea.row.state = "parked";
      idea.comparison = it->second.comparison;
    }
    story.ideas.push_back(std::move(idea));
  }
  const auto rank = [](const TriedIdea& idea) {
    return std::tuple(idea.row.state != "promoted", !idea.comparison.has_value(),
                      idea.comparison ? -idea.comparison->effect : 0.0);
  };
  std::ranges::stable_sort(story.ideas, {}, rank);
  return story;
}

}  // namespace amdahl::app
