// campaign_html.h: the whole campaign as a page that needs nothing but itself.
#pragma once

#include <string>

#include "app/campaign.h"

namespace amdahl::app {

// Families with what their stack saves, every idea with its interval and verdict, and what it cost.
// Pictures inline, no scripts, nothing loaded; `when` says when it was made.
std::string campaign_page(const CampaignStory& story, const std::string& when);

}  // namespace amdahl::app
