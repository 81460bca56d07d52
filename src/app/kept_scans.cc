#include "app/kept_scans.h"

#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/context.h"
#include "app/describe.h"
#include "base/json.h"
#include "base/text.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

std::string kept_scans_file(const Config& config) { return config.state_dir + "/scans.jsonl"; }

Json json_of(const KeptScan& kept) {
  return {{"start_s", to_seconds(kept.start)},
          {"end_s", to_seconds(kept.end)},
          {"jobs", kept.jobs},
          {"allocated_accelerator_s", kept.split.allocated},
          {"unobserved_accelerator_s", kept.split.unobserved},
          {"idle_accelerator_s", kept.split.idle},
          {"low_accelerator_s", kept.split.low},
          {"productive_accelerator_s", kept.split.productive},
          {"lost_accelerator_s", kept.lost},
          {"kwh", kept.kwh}};
}

Result<KeptScan> kept_from(std::string_view line) {
  const Json json = TRY(parse_json(line));
  const auto number = [&](const char* name) {
    const auto at = json.find(name);
    return at != json.end() && at->is_number() ? at->get<double>() : 0.0;
  };
  if (!json.is_object() || number("end_s") <= number("start_s")) {
    return bad_input("is no kept scan");
  }
  return KeptScan{.start = from_seconds(number("start_s")),
                  .end = from_seconds(number("end_s")),
                  .jobs = static_cast<std::uint64_t>(std::max(0.0, number("jobs"))),
                  .split = {.allocated = number("allocated_accelerator_s"),
                            .unobserved = number("unobserved_accelerator_s"),
                            .idle = number("idle_accelerator_s"),
                            .low = number("low_accelerator_s"),
                            .productive = number("productive_accelerator_s")},
                  .lost = number("lost_accelerator_s"),
                  .kwh = number("kwh")};
}

Result<std::vector<KeptScan>> read_kept(const Config& config) {
  const std::string path = kept_scans_file(config);
  std::vector<KeptScan> scans;
  if (!os::exists(path)) return scans;
  const std::string text = TRY(os::read_file(path));
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    scans.push_back(TRY(kept_from(line).in(
        fmt::format("{}:{}: delete the line, or the file, to begin anew", path, number))));
  }
  return scans;
}

}  // namespace

Result<> keep_scan(const Config& config, const FleetAnswer& answer) {
  const scan::Report& report = answer.report;
  if (!scan::tells_a_week(report)) {
    return bad_input(fmt::format(
        "--keep needs a window of a day or more; this one has {}: pass --window 7d, or more files",
        show_duration(report.end - report.start)));
  }
  const KeptScan kept{.start = report.start,
                      .end = report.end,
                      .jobs = report.totals.jobs,
                      .split = report.totals.split,
                      .lost = report.totals.lost,
                      .kwh = report.beside.energy.kwh};
  std::vector<KeptScan> scans = TRY(read_kept(config));
  std::erase_if(
      scans, [&](const KeptScan& one) { return one.start == kept.start && one.end == kept.end; });
  scans.push_back(kept);
  std::string text;
  for (const KeptScan& one : scans) text += json_of(one).dump() + "\n";
  TRY(make_state(config.state_dir));
  return os::write_file(kept_scans_file(config), text);
}

Result<std::vector<KeptScan>> kept_scans(const Config& config) {
  std::vector<KeptScan> scans = TRY(read_kept(config));
  std::ranges::stable_sort(scans, {}, &KeptScan::start);
  return scans;
}

std::vector<KeptMonth> kept_months(std::vector<KeptScan> scans) {
  // The latest first: what an earlier window shares with one that counts, is not counted again.
  std::ranges::stable_sort(scans, std::greater<>{}, &KeptScan::start);
  std::vector<KeptMonth> months;
  const KeptScan* next = nullptr;
  for (const KeptScan& one : scans) {
    if (next && one.end > next->start) {
      const Nanos shared = one.end - next->start;
      if (10 * shared > one.end - one.start) continue;
    }
    next = &one;
    const std::string month = describe_time(one.start).substr(0, 7);
    if (months.empty() || months.back().month != month) months.push_back({.month = month});
    KeptMonth& into = months.back();
    into.days += to_seconds(one.end - one.start) / 86400;
    ++into.scans;
    into.sum.jobs += one.jobs;
    into.sum.split += one.split;
    into.sum.lost += one.lost;
    into.sum.kwh += one.kwh;
  }
  std::ranges::reverse(months);
  return months;
}

}  // namespace amdahl::app
