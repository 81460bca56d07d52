#include "app/trace_profile.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "os/memory.h"
#include "profile/captures.h"
#include "profile/page.h"

namespace amdahl::app {
namespace {

// A file that is named twice would count twice.
Result<> expect_once(const std::vector<std::string>& files) {
  std::set<std::string> seen;
  for (const std::string& file : files) {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::canonical(file, error);
    if (!seen.insert(error ? file : path.string()).second) {
      return bad_input(fmt::format("{} is given twice", file));
    }
  }
  return Ok{};
}

Result<profile::DiffSide> side_of(const TraceFiles& files) {
  TRY(expect_once(files.files));
  model::Trace trace = TRY(read_traces(files, [](const model::Trace&) {}));
  profile::ReportOptions options;
  options.cuts = profile::lay_end_to_end(trace).cuts;
  const profile::Prepared prepared(trace);
  return profile::diff_side(prepared, profile::report(prepared, options));
}

}  // namespace

Result<profile::Diff> diff_traces(const TraceFiles& before, const TraceFiles& after) {
  os::return_large_blocks();
  const profile::DiffSide first = TRY(side_of(before));
  return profile::diff(first, TRY(side_of(after)));
}

Result<TraceAnswer> profile_traces(const TraceRequest& request) {
  profile::ReportOptions options;
  // What was typed is checked before gigabytes are read.
  if (!request.what_if.empty()) options.what_if = TRY(profile::parse_what_if(request.what_if));
  TRY(expect_once(request.files.files));
  os::return_large_blocks();
  TraceAnswer answer;
  const auto figures = [&](const model::Trace& rows) {
    for (std::uint32_t source = 0; request.hta && source < rows.sources.size(); ++source) {
      if (auto found = profile::hta_figures(rows, source)) answer.hta.push_back(*std::move(found));
    }
  };
  model::Trace trace = TRY(read_traces(request.files, figures));
  if (options.what_if && trace.device_events.empty() && trace.host_events.empty()) {
    return bad_input(fmt::format(
        "--what-if replays kernels, copies and host calls, and {} none{}",
        request.files.files.size() == 1 ? request.files.files.front() + " has" : "these files have",
        trace.operations.empty()
            ? ""
            : "; a timeline of operations is replayed without it: see its slowdown by "
              "rank, stage and operation"));
  }
  const profile::Captures captures = profile::lay_end_to_end(trace);
  options.cuts = captures.cuts;
  const profile::Prepared prepared(trace);
  answer.report = profile::report(prepared, options);
  if (captures.count > 1) {
    const std::string apart = show_duration(captures.left_out);
    std::string said =
        captures.is_series
            ? fmt::format(
                  "between captures: {} between {} captures of the same processes were not "
                  "recorded; they are laid end to end",
                  apart, captures.count)
            : fmt::format(
                  "one job: the files are of {} times that lie {} apart, and not of the "
                  "same processes; they are laid end to end as if one had followed the "
                  "other, so profile them one by one",
                  captures.count, apart);
    if (captures.left_out > answer.report.wall / 100) answer.report.readings.push_back(said);
    answer.report.profile.missing.push_back(std::move(said));
  }
  if (request.html) {
    const profile::Boxes boxes =
        profile::boxes(prepared, answer.report.path, answer.report.ranks.shifts);
    answer.page = profile::html(answer.report, boxes, request.lead);
  }
  return answer;
}

}  // namespace amdahl::app
