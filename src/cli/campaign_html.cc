#include "cli/campaign_html.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/count.h"
#include "base/text.h"
#include "cli/show.h"
#include "profile/html_parts.h"

namespace amdahl::cli {
namespace {

constexpr std::string_view kCampaignStyle = R"(
:root { color-scheme: light dark; --ink: #1d2327; --soft: #5a6570; --ground: #ffffff;
  --line: #dde2e6; --cost: #c9cfd6; --gain: #1a7f37; --loss: #c4281f; --open: #8a94a0; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ec; --soft: #9aa5b1; --ground: #14181c; --line: #2c333a; --cost: #3a434c;
    --gain: #4cc26b; --loss: #ff7b72; --open: #77828e; } }
body { margin: 0 auto; max-width: 64rem; padding: 2rem 1.25rem 3rem; background: var(--ground);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; } h2 { font-size: 1.1rem; margin: 2.25rem 0 .5rem; }
.lead { color: var(--soft); margin: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { color: var(--soft); font-weight: 600; } td.words, th.words { text-align: left; }
.why { color: var(--soft); font-size: .85rem; max-width: 34rem; }
.state { white-space: nowrap; } .promoted { color: var(--gain); font-weight: 600; }
svg { display: block; } .axis { stroke: var(--soft); } .grid { stroke: var(--line); }
.cost { fill: var(--cost); } .gain { fill: var(--gain); stroke: var(--gain); }
.loss { fill: var(--loss); stroke: var(--loss); } .open { fill: var(--open); stroke: var(--open); }
footer { color: var(--soft); font-size: .85rem; margin-top: 2.5rem; }
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
      kWide, profile::escaped(describe(c)), across(0, kWide));
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

std::string stacks_table(const app::CampaignStory& story) {
  constexpr profile::Column kColumns[] = {
      {"family", true}, {"changes"}, {"original above, with all changes below", true}, {"saves"}};
  profile::Table table(kColumns);
  for (const model::StackResult& stack : story.stacks) {
    table.row({profile::escaped(stack.family), std::to_string(stack.changes), stack_picture(stack),
               profile::escaped(describe(stack.comparison))});
  }
  return table.take();
}

std::string ideas_table(const app::CampaignStory& story) {
  constexpr profile::Column kColumns[] = {
      {"idea", true}, {"family", true}, {"verdict", true}, {"from −50 to 100 %", true}, {"saves"}};
  profile::Table table(kColumns);
  for (const app::TriedIdea& idea : story.ideas) {
    const bool measured = idea.comparison && idea.comparison->pairs > 0;
    const bool promoted = idea.row.state == "promoted";
    const std::string reason = idea.verdict ? idea.verdict->reason : "";
    table.row({fmt::format("{}<div class=\"why\">{}</div>",
                           profile::escaped(idea.row.hypothesis.title), profile::escaped(reason)),
               profile::escaped(idea.row.hypothesis.family),
               fmt::format("<span class=\"state{}\">{}</span>", promoted ? " promoted" : "",
                           profile::escaped(idea.row.state)),
               measured ? interval_picture(*idea.comparison, promoted) : "",
               measured ? profile::escaped(describe(*idea.comparison)) : ""});
  }
  return table.take();
}

std::string costs_table(const app::Roi& roi) {
  constexpr profile::Column kColumns[] = {
      {"family", true},      {"promoted"},           {"spent, accelerator-hours"},
      {"runs, hours a day"}, {"saves, hours a day"}, {"saves a month"}};
  profile::Table table(kColumns);
  for (const app::RoiRow& row : roi.rows) {
    table.row({profile::escaped(row.family), std::to_string(row.promoted),
               show_number(row.spent_accelerator_s / 3600),
               show_number(row.volume_accelerator_h_per_day),
               show_number(row.saved_accelerator_h_per_day),
               fmt::format("${:.2f}", row.saved_usd_per_month)});
  }
  return table.take();
}

}  // namespace

std::string campaign_page(const app::CampaignStory& story, const std::string& when) {
  const auto promoted = std::ranges::count(
      story.ideas, "promoted", [](const app::TriedIdea& idea) { return idea.row.state; });
  const std::string head =
      fmt::format("{} of {} promoted", promoted,
                  counted(static_cast<std::int64_t>(story.ideas.size()), "idea"));
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
      "<meta name=\"viewport\" content=\"width=device-width\"/><title>{0}</title>\n"
      "<style>{1}</style></head><body>\n<h1>{0}</h1>\n<p class=\"lead\">{2} accelerator-hours "
      "(${3:.2f}) were spent on experiments; the changes save {4} a day (${5:.2f} a month at "
      "${6:.2f} an hour).{7}</p>\n",
      head, kCampaignStyle, show_number(story.roi.spent_accelerator_h), story.roi.spent_usd,
      show_number(story.roi.saved_accelerator_h_per_day), story.roi.saved_usd_per_month,
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
                    "ledger show ID.</footer>\n</body></html>\n",
                    profile::escaped(when));
}

}  // namespace amdahl::cli
