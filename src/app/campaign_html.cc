#include "app/campaign_html.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/describe.h"
#include "base/amount.h"
#include "base/count.h"
#include "base/html.h"
#include "base/text.h"

namespace amdahl::app {
namespace {

constexpr std::string_view kCampaignStyle = R"(
:root { --open: #8a94a0; } @media (prefers-color-scheme: dark) { :root { --open: #77828e; } }
body { max-width: 64rem; } table { width: 100%; }
.lead { color: var(--soft); margin: 0; }
.why { color: var(--soft); font-size: .85rem; max-width: 34rem; }
.state { white-space: nowrap; } .promoted { color: var(--gain); font-weight: 600; }
.axis { stroke: var(--soft); } .cost { fill: var(--none); }
.gain { fill: var(--gain); stroke: var(--gain); }
.loss { fill: var(--loss); stroke: var(--loss); } .open { fill: var(--open); stroke: var(--open); }
)";

double saved_share(double log_effect) { return 1 - std::exp(-log_effect); }

// From -50 % to 100 %: what lies beyond is drawn at the edge, where a dot has room.
double across(double share, double width) {
  constexpr double kDot = 5;
  return kDot + (width - 2 * kDot) * (std::clamp(share, -0.5, 1.0) + 0.5) / 1.5;
}

// The interval as a line, the estimate as a dot, and where nothing is saved.
std::string interval_picture(const model::Comparison& c, bool promoted) {
  constexpr double kWide = 180;
  const bool bounded = std::isfinite(c.lower) && std::isfinite(c.upper);
  const char* kind = promoted ? "gain" : bounded && c.upper < 0 ? "loss" : "open";
  std::string svg = fmt::format(
      "<svg width=\"{0}\" height=\"18\" role=\"img\" aria-label=\"{1}\">"
      "<line class=\"axis\" x1=\"{2:.1f}\" x2=\"{2:.1f}\" y1=\"0\" y2=\"18\"/>",
      kWide, escape_html(describe(c)), across(0, kWide));
  if (bounded) {
    svg += fmt::format(
        "<line class=\"{}\" stroke-width=\"3\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"9\" y2=\"9\"/>",
        kind, across(saved_share(c.lower), kWide), across(saved_share(c.upper), kWide));
  }
  return svg + fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"9\" r=\"4\"/></svg>", kind,
                           across(saved_share(c.effect), kWide));
}

// What the original takes, and below it what the stack takes.
std::string stack_picture(const model::StackResult& stack) {
  constexpr double kWide = 320;
  const double left =
      stack.original_cost > 0 ? std::min(1.0, stack.stack_cost / stack.original_cost) : 1;
  return fmt::format(
      "<svg width=\"{0}\" height=\"26\" role=\"img\" aria-label=\"cost of original and stack\">"
      "<rect class=\"cost\" width=\"{0}\" height=\"11\"/>"
      "<rect class=\"gain\" y=\"14\" width=\"{1:.1f}\" height=\"11\"/></svg>",
      kWide, kWide * left);
}

std::string stacks_table(const CampaignStory& story) {
  constexpr HtmlColumn kColumns[] = {
      {"family", true}, {"changes"}, {"original above, with all changes below", true}, {"saves"}};
  HtmlTable table(kColumns);
  for (const model::StackResult& stack : story.stacks) {
    table.row({escape_html(stack.family), std::to_string(stack.changes), stack_picture(stack),
               escape_html(describe(stack.comparison))});
  }
  return table.take();
}

std::string ideas_table(const CampaignStory& story) {
  constexpr HtmlColumn kColumns[] = {
      {"idea", true}, {"family", true}, {"verdict", true}, {"from −50 to 100 %", true}, {"saves"}};
  HtmlTable table(kColumns);
  for (const TriedIdea& idea : story.ideas) {
    const bool measured = idea.comparison && idea.comparison->pairs > 0;
    const bool promoted = idea.row.state == "promoted";
    const std::string reason = idea.verdict ? idea.verdict->reason : "";
    table.row({fmt::format("{}<div class=\"why\">{}</div>", escape_html(idea.row.hypothesis.title),
                           escape_html(reason)),
               escape_html(idea.row.hypothesis.family),
               fmt::format("<span class=\"state{}\">{}</span>", promoted ? " promoted" : "",
                           escape_html(idea.row.state)),
               measured ? interval_picture(*idea.comparison, promoted) : "",
               measured ? escape_html(describe(*idea.comparison)) : ""});
  }
  return table.take();
}

std::string costs_table(const Roi& roi) {
  constexpr HtmlColumn kColumns[] = {{"family", true}, {"promoted"},    {"spent, accelerator time"},
                                     {"uses a day"},   {"saves a day"}, {"saves a month"}};
  HtmlTable table(kColumns);
  for (const RoiRow& row : roi.rows) {
    table.row({escape_html(row.family), std::to_string(row.promoted),
               show_hours(row.spent_accelerator_s / 3600),
               show_hours(row.volume_accelerator_h_per_day),
               show_hours(row.saved_accelerator_h_per_day),
               fmt::format("${:.2f}", row.saved_usd_per_month)});
  }
  return table.take();
}

}  // namespace

std::string campaign_page(const CampaignStory& story, const std::string& when) {
  const auto promoted = std::ranges::count(story.ideas, "promoted",
                                           [](const TriedIdea& idea) { return idea.row.state; });
  const std::string head =
      fmt::format("{} of {} promoted", promoted,
                  counted(static_cast<std::int64_t>(story.ideas.size()), "idea"));
  std::string page = html_head(head, kCampaignStyle);
  page += fmt::format(
      "<h1>{0}</h1>\n<p class=\"lead\">{1} of accelerator time (${2:.2f}) were spent on "
      "experiments; "
      "the changes save {3} a day (${4:.2f} a month at ${5:.2f} an hour).{6}</p>\n",
      head, show_hours(story.roi.spent_accelerator_h), story.roi.spent_usd,
      show_hours(story.roi.saved_accelerator_h_per_day), story.roi.saved_usd_per_month,
      story.roi.price,
      story.campaign ? fmt::format(" In expectation at most {} of the promotions are false.",
                                   show_percent(story.campaign->alpha))
                     : "");
  if (!story.stacks.empty()) {
    page += "<h2>All promoted changes together, against the original</h2>\n" + stacks_table(story);
  }
  page += "<h2>Every idea</h2>\n" + ideas_table(story);
  page += "<h2>What it cost and what it saves</h2>\n" + costs_table(story.roi);
  return page + fmt::format(
                    "<footer>Made by amdahl roi, {}. The ledger has every pair: amdahl "
                    "ledger show ID.</footer>\n{}",
                    escape_html(when), kHtmlEnd);
}

}  // namespace amdahl::app
