#include "profile/job_html.h"

#include <fmt/format.h>

#include "base/html.h"
#include "base/text.h"
#include "profile/ceiling.h"
#include "profile/course.h"
#include "profile/html_parts.h"

namespace amdahl::profile {
namespace {

constexpr std::size_t kMostFindings = 20;

std::string place_of(const Finding& finding) {
  return fmt::format("<code title=\"{}\">{}:{}</code>", escape_html(finding.code.file),
                     escape_html(finding.code.file.substr(finding.code.file.rfind('/') + 1)),
                     finding.code.line);
}

std::string causes_table(const model::Profile& profile, std::span<const Finding> findings,
                         const HotLines& hot) {
  if (profile.causes.empty()) return "";
  static constexpr HtmlColumn kColumns[] = {
      {"cause", true}, {"class", true}, {"line", true}, {"time"},
      {"share"},       {"ceiling"},     {"expected"},   {"why, and what to try", true}};
  HtmlTable table(kColumns, "job-causes");
  const Framework framework = framework_of_job(profile.evidence);
  for (const model::Cause& cause : profile.causes) {
    const Finding* behind = finding_behind(findings, cause);
    const std::string line = hot_line_of(findings, hot, cause, to_seconds(profile.wall));
    table.row({escape_html(cause.name),
               fmt::format("<span class=\"whole\">{}</span>", name(cause.bottleneck)),
               behind != nullptr ? place_of(*behind) : "",
               show_duration(from_seconds(cause.accelerator_seconds)), show_percent(cause.share),
               times_of(cause.ceiling), times_of(expected_gain(cause)),
               fmt::format("{}{}<div class=\"try\">try: {}</div>", escape_html(cause.because),
                           line.empty() ? "" : "<div>" + escape_html(line) + "</div>",
                           escape_html(advice_on(findings, cause, framework)))});
  }
  return "<h2>Causes</h2>\n" + table.take();
}

std::string code_of(std::span<const Finding> findings) {
  if (findings.empty()) return "";
  static constexpr HtmlColumn kColumns[] = {
      {"line", true}, {"time"},     {"share"},
      {"at most"},    {"expected"}, {"what it does, and what to try", true}};
  HtmlTable table(kColumns);
  for (const Finding& finding : findings.first(std::min(kMostFindings, findings.size()))) {
    std::string words =
        fmt::format("<code>{}</code><div>{}: {}</div><div class=\"try\">try: {}</div>",
                    escape_html(finding.code.snippet), escape_html(finding.code.finds),
                    escape_html(finding.because), escape_html(finding.code.suggestion));
    if (!finding.code.patch.empty()) {
      std::string patch;
      for (const std::string_view row : split(trim(finding.code.patch), '\n')) {
        patch += escape_html(row) + "\n";
      }
      words += fmt::format("<details><summary>patch</summary><pre>{}</pre></details>", patch);
    }
    table.row({place_of(finding), show_duration(from_seconds(finding.accelerator_seconds)),
               show_percent(finding.share), times_of(finding.ceiling), times_of(finding.expected),
               words});
  }
  return "<h2>In the code</h2>\n" + table.take();
}

std::string list_of(std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string out = fmt::format("<h2>{}</h2>\n<ul>\n", title);
  for (const std::string& line : lines) out += fmt::format("<li>{}</li>\n", escape_html(line));
  return out + "</ul>\n";
}

}  // namespace

JobLead job_lead(const model::Profile& profile, std::span<const Finding> findings,
                 const HotLines& hot, const std::string& words) {
  JobLead lead{profile.family, profile.bottleneck, profile.rule, ""};
  lead.body = causes_table(profile, findings, hot) + code_of(findings) +
              list_of("How it went", course_of(profile)) + list_of("Missing", profile.missing);
  lead.body +=
      "<details id=\"job\">\n<summary>Text report: threads, waits, lines, disks</summary>"
      "\n<pre>";
  for (const std::string_view line : split(words, '\n')) lead.body += escape_html(line) + "\n";
  lead.body += "</pre>\n</details>\n";
  return lead;
}

}  // namespace amdahl::profile
