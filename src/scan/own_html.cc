#include "scan/own_html.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/count.h"
#include "base/html.h"
#include "base/text.h"
#include "scan/html_parts.h"
#include "scan/parts.h"

namespace amdahl::scan {
namespace {

constexpr std::size_t kOwnListed = 50;  // Jobs.
constexpr std::size_t kOwnDrawn = 6;    // Of them, with their timelines.

struct OwnJobs {
  std::vector<std::uint32_t> worst;  // Most wasted first.
  Split split;
  double lost = 0;
  std::uint64_t lost_jobs = 0;
  double kwh = 0;
};

OwnJobs own_jobs(const FleetUsage& usage, const OwnImprint& imprint) {
  OwnJobs own;
  const JobRows& jobs = usage.jobs;
  for (std::uint32_t i = 0; i < jobs.size(); ++i) {
    const JobRows::Traits& traits = jobs.traits()[jobs.traits_of(i)];
    const WordId who = imprint.by == By::kAccount ? traits.account : traits.user;
    if (usage.text(who) != imprint.name) continue;
    const Split split = jobs.split(i);
    own.worst.push_back(i);
    own.split += split;
    own.kwh += kwh_of(usage, i);
    if (!model::is_lost(jobs.state(i))) continue;
    own.lost += split.allocated;
    ++own.lost_jobs;
  }
  std::ranges::stable_sort(own.worst, [&](std::uint32_t a, std::uint32_t b) {
    return wasted(jobs.split(a)) > wasted(jobs.split(b));
  });
  return own;
}

std::string own_hours(double seconds) { return show_amount(in_hours(seconds)); }

HtmlCell own_hours_cell(double seconds) { return {own_hours(seconds), fmt::to_string(seconds)}; }

std::string own_fact(const std::string& value, const std::string& what) {
  return fmt::format("<div><b>{}</b><span>{}</span></div>\n", escape_html(value),
                     escape_html(what));
}

std::string own_facts(const OwnJobs& own) {
  const bool is_seen = observed_in(own.split) > 0;
  const auto seen = [&](double value) {
    return is_seen ? own_hours(value) + " h" : std::string("not known");
  };
  std::string text = "<div class=\"facts\">\n";
  text += own_fact(own_hours(own.split.allocated) + " h", "held");
  text += own_fact(seen(wasted(own.split)), "wasted: idle, or used little");
  text += own_fact(
      own_hours(own.lost) + " h",
      fmt::format("in {} that failed", counted(static_cast<std::int64_t>(own.lost_jobs), "job")));
  if (own.kwh > 0) text += own_fact(show_amount(own.kwh) + " kWh", "drawn");
  return text + "</div>\n";
}

std::string own_table(const FleetUsage& usage, const Families& families, const OwnJobs& own) {
  const std::vector<HtmlColumn> columns{{"job", true}, {"mostly", true}, {"wasted"},
                                        {"held"},      {"util"},         {"state", true}};
  HtmlTable table(columns, "own");
  for (std::size_t i = 0; i < std::min(kOwnListed, own.worst.size()); ++i) {
    const FleetJob job = usage.jobs[own.worst[i]];
    const bool is_seen = observed_in(job.split) > 0;
    const Dissection found = dissect(lines_of(usage, job));
    std::string mostly = is_seen ? "nothing was wasted" : "not observed";
    if (is_seen && wasted(job.split) < kFewWasted * observed_in(job.split)) {
      mostly = "<b>well used</b>";
      if (model::is_lost(job.state)) mostly += ", but it failed: find out why before the next run";
    } else if (!found.parts.empty()) {
      const Part& most = found.parts.front();
      mostly = fmt::format("<b>{}</b>: {}<br/><span class=\"soft\">{}</span>",
                           escape_html(name(most.kind)), escape_html(action(most.kind)),
                           escape_html(most.evidence));
    }
    table.row({fmt::format("{}<br/><span class=\"soft\">{}</span>", escape_html(usage.text(job.id)),
                           escape_html(families.all[families.of_job[own.worst[i]]].name)),
               mostly, is_seen ? own_hours_cell(wasted(job.split)) : HtmlCell("–"),
               own_hours_cell(job.split.allocated),
               is_seen ? HtmlCell(show_percent(job.split.productive / observed_in(job.split)))
                       : HtmlCell("–"),
               std::string(model::name(job.state))});
  }
  std::string text = "<h2>Jobs, most wasted first</h2>\n" + table.take();
  if (own.worst.size() > kOwnListed) {
    text += fmt::format("<p class=\"soft\">{} more.</p>\n", own.worst.size() - kOwnListed);
  }
  return text;
}

std::string own_timelines(const FleetUsage& usage, const Families& families, const Report& report,
                          const OwnJobs& own) {
  std::string text;
  std::size_t drawn = 0;
  for (const std::uint32_t index : own.worst) {
    if (drawn == kOwnDrawn || wasted(usage.jobs.split(index)) <= 0) break;
    const std::string& family = families.all[families.of_job[index]].name;
    const Anatomy anatomy =
        anatomy_of(usage, usage.jobs[index], family, {.idle_below = report.idle_below});
    if (anatomy.accelerators.empty() || anatomy.wall <= Nanos{} || !anatomy.no_course.empty()) {
      continue;
    }
    text += fmt::format("<h3>{} of {}</h3>\n{}", escape_html(anatomy.job), escape_html(family),
                        lanes_picture(anatomy));
    ++drawn;
  }
  return text.empty() ? "" : "<h2>Over time</h2>\n" + text;
}

}  // namespace

std::string own_html(const FleetUsage& usage, const Families& families, const Report& report,
                     const OwnImprint& imprint) {
  const OwnJobs own = own_jobs(usage, imprint);
  const std::string who = fmt::format("{} {}", name(imprint.by), imprint.name);
  std::string text = html_head("Accelerator time of " + who, page_style());
  text += fmt::format(
      "<h1>{}: {} of {} accelerator-hours were wasted</h1>\n"
      "<p class=\"soft\">{} to {} UTC, {}; idle {}.</p>\n",
      escape_html(who),
      observed_in(own.split) > 0 ? own_hours(wasted(own.split)) : std::string("an unknown part"),
      own_hours(own.split.allocated), minute_of(report.start), minute_of(report.end),
      counted(static_cast<std::int64_t>(own.worst.size()), "job"),
      describe_idle(report.idle_below));
  text += own_facts(own) + split_picture(own.split);
  text += own_table(usage, families, own) + own_timelines(usage, families, report, own);
  return text + fmt::format("<footer>amdahl scan, {} UTC</footer>\n{}", escape_html(imprint.made),
                            kHtmlEnd);
}

}  // namespace amdahl::scan
