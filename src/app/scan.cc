#include "app/scan.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "os/fault.h"
#include "os/files.h"
#include "scan/families.h"
#include "scan/trend.h"

namespace amdahl::app {
namespace {

// A century is for ever, and more of them do not fit into Nanos.
Nanos length_of_days(double days) { return from_seconds(std::min(days, 36500.0) * 86400); }

// What the ledger knows of families and levers, for ranking by what can be got back.
Result<scan::Memories> memories_of(ledger::Ledger& ledger) {
  scan::Memories memories;
  const std::map<std::string, ledger::TrackRecord> records = TRY(ledger.track_records());
  for (const ledger::Family& family : TRY(ledger.families())) {
    scan::Memory& memory = memories.families[family.name];
    if (const auto record = records.find(family.name); record != records.end()) {
      memory.tried = static_cast<int>(record->second.tried);
      memory.won = static_cast<int>(record->second.won);
    }
    if (!family.profile) continue;
    for (const model::Cause& cause : family.profile->causes) {
      memory.causes.push_back({cause.bottleneck, cause.share});
    }
  }
  for (const auto& [bottleneck, record] : TRY(ledger.lever_records())) {
    memories.levers[bottleneck] = {static_cast<int>(record.tried), static_cast<int>(record.won)};
  }
  return memories;
}

std::string usage_folder(const Config& config) { return config.state_dir + "/usage"; }

ingest::Options reading(const Config& config, const ScanOptions& options) {
  ingest::Options read = options.read;
  if (read.origins.empty()) {
    read.by_default =
        "there is nothing to scan yet; run a job: amdahl run -- CMD, or name files or a source: "
        "amdahl scan sacct.txt dcgm.csv.gz";
    if (os::exists(usage_folder(config))) read.origins.push_back({.where = usage_folder(config)});
    read.origins.insert(read.origins.end(), config.scan_sources.begin(), config.scan_sources.end());
  }
  read.idle_below = options.idle_below.value_or(config.idle_threshold);
  read.live_window = length_of_days(config.scan_window_days);
  read.folder = config.state_dir + "/scan";
  read.keep_unused = length_of_days(config.scan_keep_days);
  return read;
}

}  // namespace

Result<FleetAnswer> scan_all(const Config& config, ledger::Ledger* ledger, os::Clock& clock,
                             const ScanOptions& options) {
  const ingest::Options read = reading(config, options);
  const auto is_stopped = [&] { return read.stop && read.stop(); };
  FleetAnswer answer{TRY(ingest::read_fleet(read, clock))};
  scan::Recogniser recogniser = TRY(scan::Recogniser::make(config.family_rules));
  answer.families = scan::families_of(answer.usage, std::move(recogniser), is_stopped);
  if (is_stopped()) return external("interrupted");
  os::fault_point("scan-ranked");
  scan::Memories memories;
  if (ledger) {
    memories = TRY(memories_of(*ledger));
    for (const auto& [family, _] : memories.families) answer.with_spec.push_back(family);
    if (options.read.origins.empty()) answer.next = TRY(ledger->choice());
  }
  for (const std::string& name : os::list(usage_folder(config))) {
    if (name.ends_with(".json")) answer.local_jobs.insert(name.substr(0, name.size() - 5));
  }
  scan::ReportOptions report = options.report;
  report.stop = is_stopped;
  answer.report = scan::report(answer.usage, answer.families, memories, report);
  if (is_stopped()) return external("interrupted");
  if (report.trend_every > Nanos{} && answer.report.trends.empty()) {
    return bad_input(fmt::format("--trend: there are more than {} windows in {}",
                                 scan::kMostTrendWindows,
                                 show_duration(answer.report.end - answer.report.start)));
  }
  return answer;
}

}  // namespace amdahl::app
