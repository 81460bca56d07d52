// pages.h: answers as text pictures and HTML pages, for any door.
#pragma once

#include <string>

#include "app/campaign.h"
#include "app/compare_pair.h"
#include "app/profile_command.h"
#include "app/scan.h"
#include "app/trace_profile.h"
#include "compare/draw.h"
#include "scan/anatomy.h"
#include "scan/report.h"

namespace amdahl::app {

using Look = compare::Look;  // Width, colours, ASCII.

std::string draw(const scan::Anatomy& anatomy, const Look& look);
std::string draw(const CompareOutcome& outcome, const Look& look);
std::string draw(const TraceAnswer& answer, const Look& look);
std::string draw(const profile::Diff& diff, const Look& look);

// Every page is self-contained: inline pictures, nothing loaded, all text escaped.
std::string page_of(const CompareOutcome& outcome);
std::string page_of(const FleetAnswer& answer, scan::By by, scan::Order order);
// The same of one user or account who had jobs.
std::string own_page_of(const FleetAnswer& answer, scan::By by, const std::string& name);
std::string page_of(const CampaignStory& story);
// The job first, then the timeline of its traces, if any. `words`: its profile as text, which has
// everything that the tables leave out.
std::string page_of(const CommandProfile& done, const std::string& words);

}  // namespace amdahl::app
