#include "cli/show_causes.h"

#include <cmath>
#include <filesystem>

#include <fmt/core.h>

#include "app/describe.h"
#include "base/screen.h"
#include "base/text.h"
#include "cli/terminal.h"

namespace amdahl::cli {
namespace {

using model::Cause;

constexpr std::size_t kCauseWidth = 42;

// The text below the row of a cause.
std::string show_advice(const Flags& flags, const app::CauseAdvice& advice, const Cause& cause) {
  std::string text;
  for (const profile::Finding* finding : {advice.behind, advice.beside}) {
    if (finding == nullptr) continue;
    text += wrapped(flags, fmt::format("{}: {}", place_of(finding->code), finding->code.finds), 3);
  }
  text += wrapped(flags, cause.because, 3);
  if (!advice.went_to.empty()) text += wrapped(flags, advice.went_to, 3);
  if (!advice.to_try.empty()) text += wrapped(flags, fmt::format("try: {}", advice.to_try), 3);
  return text;
}

std::string show_cause_table(const Flags& flags, const app::JobProfile& job) {
  const std::vector<Cause>& causes = job.profile.causes;
  if (causes.empty()) return "";
  std::vector<app::CauseAdvice> advice;
  std::vector<TableRow> rows;
  for (const Cause& cause : causes) {
    advice.push_back(app::advice_on(job, cause));
    rows.push_back({fmt::format("{}. {}", advice.size(), clip(cause.name, kCauseWidth)),
                    show_duration(from_seconds(cause.accelerator_seconds)),
                    show_percent(cause.share), times(cause.ceiling),
                    times(advice.back().expected)});
  }
  const std::vector<std::string> lines =
      table_lines({"Cause", "time", "share", "ceiling", "expected"}, rows);
  std::string text = "\n" + bold(flags, lines.front()) + "\n";
  for (std::size_t i = 0; i < causes.size(); ++i) {
    text += lines[i + 1] + "\n" + show_advice(flags, advice[i], causes[i]);
  }
  return text;
}

}  // namespace

std::string times(double ceiling) {
  return std::isfinite(ceiling) ? fmt::format("{:.2f}x", ceiling) : "not known";
}

std::string place_of(const code::Finding& finding) {
  std::error_code error;
  const auto relative = std::filesystem::relative(finding.file, error);
  const bool below = !error && !relative.empty() && *relative.begin() != "..";
  return fmt::format("{}:{}", below ? relative.string() : finding.file, finding.line);
}

std::string wrapped(const Flags& flags, std::string_view text, std::size_t indent) {
  const auto width = static_cast<std::size_t>(terminal_width(flags));
  return join(wrap_lines(plain(text), width, indent), "\n") + "\n";
}

std::string show_causes(const Flags& flags, const app::JobProfile& job) {
  const model::Profile& profile = job.profile;
  std::string text = fmt::format("{}  bottleneck: {} ({})\n", bold(flags, plain(profile.family)),
                                 name(profile.bottleneck), describe(profile.bottleneck));
  text += wrapped(flags, profile.rule, 2);
  text += show_cause_table(flags, job);
  if (const std::string load = app::load_of(profile); !load.empty())
    text += "\n" + wrapped(flags, load, 0);
  const std::vector<std::string> course = app::course_of(profile);
  if (!course.empty() || !job.gpus.empty()) text += "\n" + bold(flags, "How it went") + "\n";
  for (const std::string& line : course) text += wrapped(flags, line, 2);
  for (const profile::GpuUse& gpu : job.gpus) text += wrapped(flags, describe(gpu), 2);
  if (!profile.missing.empty()) text += "\n";
  for (const std::string& missing : profile.missing) {
    text += wrapped(flags, fmt::format("missing: {}", missing), 0);
  }
  return text;
}

}  // namespace amdahl::cli
