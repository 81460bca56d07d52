#include "app/pages.h"

#include <utility>

#include "app/campaign_html.h"
#include "app/describe.h"
#include "app/door.h"
#include "compare/html.h"
#include "os/host.h"
#include "profile/job_html.h"
#include "profile/page.h"
#include "scan/draw.h"
#include "scan/html.h"
#include "scan/own_html.h"

namespace amdahl::app {

std::string draw(const scan::Anatomy& anatomy, const Look& look) {
  return scan::draw(anatomy, look.width, look.colour, look.ascii);
}

std::string draw(const CompareOutcome& outcome, const Look& look) {
  return compare::draw(outcome.account, look);
}

std::string draw(const TraceAnswer& answer, const Look& look) {
  return profile::draw(answer.report, look.width, look.colour);
}

std::string draw(const profile::Diff& diff, const Look& look) {
  return profile::draw(diff, look.width);
}

std::string page_of(const CompareOutcome& outcome) {
  return compare::html_page(
      outcome.account, {describe_time(outcome.started) + " UTC", os::host_name(), outcome.folder});
}

std::string page_of(const FleetAnswer& answer, scan::By by, scan::Order order) {
  return scan::html_page(
      answer.usage, answer.families, answer.report,
      {.by = by, .order = order, .made = describe_time(unix_now()), .missing = answer.missing});
}

std::string own_page_of(const FleetAnswer& answer, scan::By by, const std::string& name) {
  return scan::own_html(answer.usage, answer.families, answer.report,
                        {.by = by, .name = name, .made = describe_time(unix_now())});
}

std::string page_of(const CampaignStory& story) {
  return campaign_page(story, describe_time(unix_now()));
}

std::string page_of(const CommandProfile& done, const std::string& words) {
  TraceRequest request;
  request.files.files = collected_in(done.folder).traces;
  request.html = true;
  request.lead =
      profile::job_lead(done.joined.profile, done.joined.findings, done.joined.hot, words);
  if (!request.files.files.empty()) {
    if (auto answer = profile_traces(request)) return std::move(answer->page);
  }
  return profile::html({}, {}, request.lead);
}

}  // namespace amdahl::app
