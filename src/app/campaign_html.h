// campaign_html.h: the whole campaign as a self-contained HTML page.
#pragma once

#include <string>

#include "app/campaign.h"

namespace amdahl::app {

// Families with what their stack saves, every idea with its interval and verdict, and the cost.
// Inline pictures, no scripts, nothing loaded; `when` is the creation time.
std::string campaign_page(const CampaignStory& story, const std::string& when);

}  // namespace amdahl::app
