// campaign.h: everything the loop tried, with results, for one page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "app/roi.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "model/hypothesis.h"

namespace amdahl::app {

struct TriedIdea {
  ledger::HypothesisRow row;
  std::optional<model::Verdict> verdict;        // Nothing while it is live.
  std::optional<model::Comparison> comparison;  // Of the verdict, or of the parked experiment.
};

struct CampaignStory {
  Roi roi;
  std::vector<model::StackResult> stacks;  // The latest of each family.
  std::vector<TriedIdea> ideas;            // Promoted first, largest saving first.
  std::optional<ledger::Campaign> campaign;
};

Result<CampaignStory> read_campaign(Context& context, std::optional<double> price);

}  // namespace amdahl::app
