#include "cli/show_job_profile.h"

#include <cmath>
#include <optional>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/profile.h"
#include "app/ceilings.h"
#include "app/door.h"
#include "app/pages.h"
#include "base/count.h"
#include "base/screen.h"
#include "base/text.h"
#include "cli/show.h"
#include "cli/show_causes.h"
#include "cli/show_waits.h"
#include "cli/terminal.h"

namespace amdahl::cli {
namespace {

constexpr std::size_t kShownFindings = 8;  // Findings in full.
constexpr std::size_t kLastWords = 200;

std::string indented(const std::string& text, const char* by) {
  std::string out;
  for (const std::string_view line : split(trim(text), '\n')) {
    out += fmt::format("{}{}\n", by, line);
  }
  return out;
}

std::string show_finding(const Flags& flags, const profile::Finding& finding) {
  std::string text = fmt::format(
      "  {}  {} ({}), speed-up {}, expected {}\n    {}\n", bold(flags, place_of(finding.code)),
      show_duration(from_seconds(finding.accelerator_seconds)), show_percent(finding.share),
      std::isfinite(finding.ceiling) ? "at most " + times(finding.ceiling) : "with no known limit",
      times(finding.expected), plain(finding.code.snippet));
  text += wrapped(flags, fmt::format("{}: {}", finding.code.finds, finding.because), 4);
  text += wrapped(flags, fmt::format("try: {}", finding.code.suggestion), 4);
  if (!finding.code.patch.empty()) text += indented(finding.code.patch, "      ");
  return text;
}

}  // namespace

std::string show_job_profile(const Flags& flags, const app::JobProfile& profile) {
  std::string text = show_causes(flags, profile);
  if (!profile.findings.empty()) text += "\nIn the code\n";
  for (std::size_t i = 0; i < profile.findings.size() && i < kShownFindings; ++i) {
    text += show_finding(flags, profile.findings[i]);
  }
  if (profile.findings.size() > kShownFindings) {
    text +=
        fmt::format("  {} more; all of them: --json\n", profile.findings.size() - kShownFindings);
  }
  if (profile.waits) text += show_waits(flags, *profile.waits);
  for (const std::string& problem : profile.problems) {
    text += fmt::format("not read: {}\n", problem);
  }
  return text;
}

namespace {

// Output that was not shown while it ran.
std::string last_words(const app::CommandProfile& done) {
  const std::string_view said = trim(done.receipt.stderr_tail);
  if (said.empty()) return "";
  const std::string_view line = said.substr(said.rfind('\n') + 1);
  return fmt::format("\namdahl: last line of its stderr: {}\namdahl: all of it: {}/stderr",
                     clip(plain(line), kLastWords), done.folder);
}

std::vector<std::string> to_measure(const ProfileFlags& flags) {
  std::vector<std::string> causes;
  if (flags.measure.empty()) return causes;
  for (const std::string_view cause : split(flags.measure, ',')) causes.emplace_back(cause);
  return causes;
}

// The command without what --measure names; nothing of a job that failed.
Result<std::vector<app::Ceiling>> measured(const ProfileFlags& flags, const app::Config& config,
                                           const app::ProfileCommand& command,
                                           const app::CommandProfile& done) {
  if (flags.measure.empty() || !succeeded(done.receipt)) return std::vector<app::Ceiling>{};
  app::CeilingOptions options;
  options.run = command.run;
  options.causes = to_measure(flags);
  catch_interrupts();
  options.stopped = interrupted;
  options.say = [](const std::string& line) { tell(line); };
  return app::measure_ceilings(config, options, done.joined.profile);
}

std::string show_ceilings(const std::vector<app::Ceiling>& ceilings) {
  std::string text = ceilings.empty() ? "" : "\nWithout it, measured\n";
  for (const app::Ceiling& c : ceilings) {
    const std::string computed =
        c.computed ? fmt::format("computed at most {:.2f}x, ", *c.computed) : "";
    text += c.problem.empty()
                ? fmt::format("  {}: {}measured {:.2f}x ({:.2f}–{:.2f}, {})\n", c.cause, computed,
                              c.measured, c.lower, c.upper, counted(c.pairs, "pair"))
                : fmt::format("  {}: {}not measured: {}\n", c.cause, computed, c.problem);
  }
  return text;
}

}  // namespace

Result<int> profile_typed_command(const ProfileFlags& flags) {
  app::ProfileCommand command;
  command.run.argv = flags.command;
  command.run.family = flags.family;
  command.run.accelerators = flags.accelerators;
  command.run.quiet = flags.quiet || flags.json;
  command.nsys = flags.nsys;
  command.ncu = flags.ncu;
  command.syscalls = flags.syscalls;
  const app::Config config = TRY(config_for(flags));
  TRY(app::check_causes(to_measure(flags)));
  const app::CommandProfile done = TRY(app::profile_command(config, command));
  if (done.receipt.ending == model::Ending::kNotStarted) {
    tell("amdahl: " + done.receipt.reason);
    return exit_status(done.receipt);
  }
  const std::vector<app::Ceiling> ceilings = TRY(measured(flags, config, command, done));
  if (flags.json) {
    print_json(api::command_profile(done, ceilings));
  } else {
    print(show_job_profile(flags, done.joined));
    print(show_ceilings(ceilings));
    print(fmt::format("\nFiles of the collectors: {}\n", done.folder));
    const auto traces = app::collected_in(done.folder).traces;
    const bool has_devices = done.joined.trace && !done.joined.trace->devices.empty();
    if (has_devices || (done.joined.trace && (command.nsys || command.ncu))) {
      print(fmt::format("The full trace: amdahl profile {}\n", join(traces, " ")));
    }
  }
  if (done.receipt.left_behind > 0) {
    fmt::print(stderr, "amdahl: {} that the job left running {} ended with it\n",
               counted(done.receipt.left_behind, "process", "processes"),
               done.receipt.left_behind == 1 ? "was" : "were");
  }
  if (!succeeded(done.receipt)) {
    fmt::print(stderr, "amdahl: the job {}: {}; the profile covers the run up to there{}\n",
               done.cut_short ? "was cut short" : "failed", describe_ending(done.receipt),
               command.run.quiet ? last_words(done) : "");
  }
  if (!flags.html.empty()) {
    ProfileFlags plain_text = flags;
    plain_text.no_color = true;
    const std::string page = app::page_of(done, show_job_profile(plain_text, done.joined));
    TRY(app::write_output(flags.html, page).in("--html"));
  }
  return exit_status(done.receipt);
}

}  // namespace amdahl::cli
