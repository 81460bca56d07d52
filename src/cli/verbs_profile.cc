#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/profile.h"
#include "app/kept_traces.h"
#include "app/pages.h"
#include "app/profile_now.h"
#include "app/trace_profile.h"
#include "base/text.h"
#include "cli/outputs.h"
#include "cli/show.h"
#include "cli/show_job_profile.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace amdahl::cli {
namespace {

// A word that is not a file but looks like a file name.
bool looks_like_a_file(const std::string& word) {
  if (word == "-" || word.find('/') != std::string::npos || app::is_trace_file(word)) return true;
  return std::ranges::any_of(
      std::to_array({".json", ".gz", ".zst", ".sqlite", ".csv", ".txt", ".jsonl"}),
      [&](std::string_view ending) { return word.ends_with(ending); });
}

bool is_folder(const std::string& word) {
  std::error_code error;
  return std::filesystem::is_directory(word, error);
}

std::string show_hta(const profile::HtaFigures& figures) {
  const auto share = [&](double part) {
    const double whole = figures.temporal.kernel_us;
    return whole > 0 ? show_percent(part / whole) : std::string();
  };
  std::string text =
      fmt::format("\nAs Holistic Trace Analysis counts, rank {}: idle {}, compute {}, other {}",
                  figures.rank, share(figures.temporal.idle_us), share(figures.temporal.compute_us),
                  share(figures.temporal.non_compute_us));
  if (figures.overlap_percent) {
    text += fmt::format(", {:.2f} % of communication overlapped", *figures.overlap_percent);
  }
  return text + "\n";
}

Error wants_files(const std::string& folder, std::string_view why) {
  const std::string_view slash = folder.ends_with('/') ? "" : "/";
  return {Error::Kind::kNotFound,
          fmt::format("{0} is a folder{1}; type: amdahl profile {0}{2}*", folder, why, slash)};
}

// For the pages of `amdahl serve`.
Result<> keep(const ProfileFlags& flags, const Json& document) {
  if (flags.keep.empty()) return Ok{};
  return app::keep_trace(TRY(config_for(flags)), flags.keep, document);
}

Result<int> profile_files(const ProfileFlags& flags) {
  for (const std::string& word : flags.words) {
    if (is_folder(word)) return wants_files(word, "");
  }
  app::TraceRequest request;
  request.files.files = flags.words;
  request.files.format = flags.format;
  request.what_if = flags.what_if;
  request.html = !flags.html.empty();
  request.hta = flags.hta;
  const app::TraceAnswer answer = TRY(app::profile_traces(request));
  if (request.html) TRY(write_page(flags, answer.page));
  TRY(keep(flags, api::traces(answer)));
  if (flags.json) {
    print_json(api::traces(answer));
    return 0;
  }
  print(app::draw(answer, {.width = terminal_width(flags), .colour = use_colour(flags)}));
  for (const profile::HtaFigures& figures : answer.hta) print(show_hta(figures));
  return 0;
}

// Expands a folder to the files in it.
std::vector<std::string> files_of(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  for (const std::string& word : words) {
    if (!is_folder(word)) {
      files.push_back(word);
      continue;
    }
    std::error_code error;
    std::vector<std::string> inside;
    for (const auto& entry : std::filesystem::directory_iterator(word, error)) {
      if (app::is_trace_file(entry.path().string())) inside.push_back(entry.path().string());
    }
    std::ranges::sort(inside);
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

Result<int> profile_diff(const ProfileFlags& flags) {
  if (flags.words.empty()) {
    return bad_input(
        "--diff needs the traces after the change too; type: amdahl profile --diff BEFORE AFTER");
  }
  double limit = -1;
  if (!flags.fail_if.empty()) limit = TRY(profile::parse_fail_if(flags.fail_if));
  const app::TraceFiles before{.files = files_of(flags.diff), .format = flags.format, .limits = {}};
  const app::TraceFiles after{.files = files_of(flags.words), .format = flags.format, .limits = {}};
  const profile::Diff diff = TRY(app::diff_traces(before, after));
  const bool failed = limit >= 0 && profile::is_regression(diff, limit);
  TRY(keep(flags, api::trace_diff(diff, failed)));
  if (flags.json) {
    print_json(api::trace_diff(diff, failed));
  } else {
    print(app::draw(diff, {.width = terminal_width(flags), .colour = false}));
    if (failed) print(fmt::format("\nfailed: {}\n", flags.fail_if));
  }
  return failed ? 1 : 0;
}

Result<int> profile_family(const ProfileFlags& flags) {
  const std::string& family = flags.words.front();
  app::Context context = TRY(context_for(flags, false));
  if (!flags.show) catch_interrupts();
  const auto say = [](const std::string& line) { tell(line); };
  const app::JobProfile joined =
      TRY(flags.show ? app::latest_profile(context, family)
                     : app::profile_family(context, family, say, interrupted));
  if (flags.json) {
    print_json(api::job_profile(joined));
  } else {
    print(show_job_profile(flags, joined));
  }
  return 0;
}

// Options that do not apply to a command must be reported.
Result<> check_command(const ProfileFlags& flags) {
  if (!flags.words.empty()) {
    return bad_input(fmt::format("profile takes files or a command, not both: '{}' before --",
                                 flags.words.front()));
  }
  if (flags.accelerators < 0) return bad_input("--accelerators must be at least 1");
  for (const auto& [option, given] :
       {std::pair("--what-if", !flags.what_if.empty()), std::pair("--hta", flags.hta),
        std::pair("--show", flags.show), std::pair("--format", !flags.format.empty()),
        std::pair("--diff", !flags.diff.empty()), std::pair("--fail-if", !flags.fail_if.empty()),
        std::pair("--keep", !flags.keep.empty())}) {
    if (given) return bad_input(fmt::format("{} is not for a command", option));
  }
  return Ok{};
}

}  // namespace

Result<int> do_profile(const ProfileFlags& flags) {
  if (!flags.command.empty()) {
    TRY(check_command(flags));
    return profile_typed_command(flags);
  }
  if (!flags.diff.empty()) return profile_diff(flags);
  if (!flags.fail_if.empty()) {
    return bad_input("--fail-if is for --diff; type: amdahl profile --diff BEFORE AFTER");
  }
  if (!flags.measure.empty()) {
    return bad_input("--measure is for a command; type: amdahl profile --measure input -- CMD");
  }
  if (flags.words.empty()) {
    return bad_input("profile needs a family or files of a profiler; type: amdahl profile --help");
  }
  if (std::ranges::any_of(flags.words, looks_like_a_file)) return profile_files(flags);
  for (const auto& [option, given] :
       {std::pair("--what-if", !flags.what_if.empty()), std::pair("--html", !flags.html.empty()),
        std::pair("--hta", flags.hta), std::pair("--format", !flags.format.empty()),
        std::pair("--keep", !flags.keep.empty())}) {
    if (given) {
      return bad_input(fmt::format("{} is for files of a profiler, and there is no file '{}'",
                                   option, flags.words.front()));
    }
  }
  if (flags.words.size() > 1) {
    return bad_input(fmt::format("profile takes one family, or files; there is no file '{}'",
                                 flags.words.front()));
  }
  auto done = profile_family(flags);
  if (!done && done.error().kind == Error::Kind::kNotFound && is_folder(flags.words.front())) {
    return wants_files(flags.words.front(), ", and there is no such family");
  }
  return done;
}

}  // namespace amdahl::cli
