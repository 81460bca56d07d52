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

std::string show_cause(const Flags& flags, const app::JobProfile& profile, const Cause& cause,
                       std::size_t number) {
  const app::CauseAdvice advice = app::advice_on(profile, cause);
  std::string text =
      fmt::format("{}. {} {:>9} {:>6} {:>8} {:>8}\n", number,
                  left(cause.name, number < 10 ? 42 : 41), show_number(cause.accelerator_seconds),
                  show_percent(cause.share), times(cause.ceiling), times(advice.expected));
  for (const profile::Finding* finding : {advice.behind, advice.beside}) {
    if (finding == nullptr) continue;
    text += wrapped(flags, fmt::format("{}: {}", place_of(finding->code), finding->code.finds), 3);
  }
  text += wrapped(flags, cause.because, 3);
  if (!advice.went_to.empty()) text += wrapped(flags, advice.went_to, 3);
  if (!advice.to_try.empty()) text += wrapped(flags, fmt::format("try: {}", advice.to_try), 3);
  return text;
}

}  // namespace

std::string times(double ceiling) {
  return std::isfinite(ceiling) ? fmt::format("{:.2f}x", ceiling) : "no limit";
}

std::string place_of(const code::Finding& finding) {
  std::error_code error;
  const auto relative = std::filesystem::relative(finding.file, error);
  const bool below = !error && !relative.empty() && *relative.begin() != "..";
  return fmt::format("{}:{}", below ? relative.string() : finding.file, finding.line);
}

std::string wrapped(const Flags& flags, std::string_view text, std::size_t indent) {
  const auto width = static_cast<std::size_t>(terminal_width(flags));
  const std::string shown = plain(text);
  std::string out;
  std::string row(indent, ' ');
  for (const std::string_view word : split(shown, ' ')) {
    const bool is_first = row.size() == indent;
    if (!is_first && columns_of(row) + 1 + columns_of(word) > width) {
      out += row + "\n";
      row.assign(indent, ' ');
    } else if (!is_first) {
      row += ' ';
    }
    row += word;
  }
  return out + row + "\n";
}

std::string show_causes(const Flags& flags, const app::JobProfile& job) {
  const model::Profile& profile = job.profile;
  std::string text = fmt::format("{}  bottleneck: {} ({})\n", bold(flags, plain(profile.family)),
                                 name(profile.bottleneck), describe(profile.bottleneck));
  text += wrapped(flags, profile.rule, 2);
  if (!profile.causes.empty()) {
    text += "\n" +
            bold(flags, fmt::format("{:<45} {:>9} {:>6} {:>8} {:>8}", "Cause", "accel-s", "share",
                                    "ceiling", "expected")) +
            "\n";
  }
  std::size_t number = 0;
  for (const Cause& cause : profile.causes) text += show_cause(flags, job, cause, ++number);
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
