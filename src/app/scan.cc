#include "app/scan.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "app/door.h"
#include "app/store.h"
#include "base/text.h"
#include "os/fault.h"
#include "os/files.h"
#include "os/host.h"
#include "scan/alerts.h"
#include "scan/families.h"
#include "scan/mail.h"
#include "scan/pick.h"
#include "scan/trend.h"

namespace amdahl::app {
namespace {

constexpr std::size_t kMostReaders = 8;  // Threads, unless more are asked for.

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

scan::Prices prices_of(const Config& config, const ScanOptions& options) {
  scan::Prices prices;
  prices.by_kind = config.price_by_kind;
  prices.by_default = options.price;
  if (!options.price && config.set_by.contains("price.accelerator_hour_usd")) {
    prices.by_default = config.price_accelerator_hour;
  }
  return prices;
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
  if (read.threads == 0) {
    read.threads = static_cast<int>(std::min<std::size_t>(os::usable_cpus().size(), kMostReaders));
  }
  read.idle_below = options.idle_below.value_or(config.idle_threshold);
  read.live_window = length_of_days(config.scan_window_days);
  read.folder = config.state_dir + "/scan";
  read.keep_unused = length_of_days(config.scan_keep_days);
  return read;
}

// The command that ends jobs of the scheduler whose accounting was read.
std::string end_command(const FleetAnswer& answer) {
  for (const ingest::InputRead& input : answer.inputs) {
    if (input.jobs == 0) continue;
    if (input.read_as.starts_with("lsf: ")) return "bkill";
    if (input.read_as.starts_with("sge: ") || input.read_as.starts_with("pbs: ")) return "qdel";
  }
  return "scancel";
}

Result<> rank(ledger::Ledger* ledger, const ScanOptions& options, FleetAnswer& answer) {
  const auto is_stopped = [&] { return options.read.stop && options.read.stop(); };
  scan::Memories memories;
  answer.with_spec.clear();
  if (ledger) {
    memories = TRY(memories_of(*ledger));
    for (const auto& [family, _] : memories.families) answer.with_spec.push_back(family);
    if (options.read.origins.empty()) answer.next = TRY(ledger->choice());
  }
  scan::ReportOptions report = options.report;
  report.stop = is_stopped;
  report.end_jobs = end_command(answer);
  answer.report = scan::report(answer.usage, answer.families, memories, report);
  if (is_stopped()) return external("interrupted");
  if (report.trend_every > Nanos{} && answer.report.trends.empty()) {
    return bad_input(fmt::format("--trend: there are more than {} windows in {}",
                                 scan::kMostTrendWindows,
                                 show_duration(answer.report.end - answer.report.start)));
  }
  return Ok{};
}

// Whether the jobs are those of the cluster here, which was asked. Others number theirs, too.
bool slurm_knows(const FleetAnswer& answer, const ingest::Options& read) {
  const bool asked = std::ranges::any_of(read.origins, [](const ingest::Origin& origin) {
    return origin.kind == "slurm" && origin.where.empty();
  });
  return asked && std::ranges::all_of(answer.inputs, [](const ingest::InputRead& input) {
           return input.jobs == 0 || input.read_as.starts_with("local: ") ||
                  input.read_as.starts_with("slurm: ");
         });
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
  for (const std::string& name : os::list(usage_folder(config))) {
    if (name.ends_with(".json")) answer.local_jobs.insert(name.substr(0, name.size() - 5));
  }
  answer.slurm_knows = slurm_knows(answer, read);
  TRY(rank(ledger, options, answer));
  return answer;
}

std::string adopted_as(const FleetAnswer& answer, const std::string& job) {
  return scan::adopted_as(job, answer.local_jobs, answer.slurm_knows);
}

Result<FleetAnswer> scan_fleet(const Config& config, const ScanOptions& options) {
  const std::unique_ptr<ledger::Ledger> ledger = TRY(find_ledger(config));
  ScanOptions priced = options;
  priced.report.prices = prices_of(config, options);
  priced.report.co2_g_per_kwh = config.scan_co2_g_per_kwh;
  return scan_all(config, ledger.get(), os::real_clock(), priced);
}

Result<std::unique_ptr<scan::Ranking>> ranking_of(const Config& config, const FleetAnswer& answer,
                                                  const ScanOptions& options) {
  const std::unique_ptr<ledger::Ledger> ledger = TRY(find_ledger(config));
  scan::Memories memories;
  if (ledger) memories = TRY(memories_of(*ledger));
  scan::ReportOptions report = options.report;
  report.prices = prices_of(config, options);
  report.co2_g_per_kwh = config.scan_co2_g_per_kwh;
  report.stop = options.read.stop;
  return std::make_unique<scan::Ranking>(answer.usage, answer.families, std::move(memories),
                                         std::move(report));
}

Result<> rank_fleet(const Config& config, const ScanOptions& options, FleetAnswer& answer) {
  const std::unique_ptr<ledger::Ledger> ledger = TRY(find_ledger(config));
  ScanOptions priced = options;
  priced.report.prices = prices_of(config, options);
  priced.report.co2_g_per_kwh = config.scan_co2_g_per_kwh;
  return rank(ledger.get(), priced, answer);
}

Result<scan::Anatomy> anatomy_in(const FleetAnswer& answer, const std::string& job) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < answer.usage.jobs.size(); ++i) {
    if (answer.usage.text(answer.usage.jobs[i].id) == job) found = i;
  }
  if (!found) {
    return Error{Error::Kind::kNotFound,
                 fmt::format("--job {}: no such job held an accelerator in this window; those that "
                             "did: --by job --top 0",
                             job)};
  }
  const std::string& family = answer.families.all[answer.families.of_job[*found]].name;
  return scan::anatomy_of(answer.usage, answer.usage.jobs[*found], family,
                          {.idle_below = answer.report.idle_below});
}

Result<std::size_t> write_mails(const FleetAnswer& answer, const std::string& folder,
                                const std::string& command) {
  TRY(os::make_dirs(os::absolute(folder)));
  const std::vector<scan::Mail> mails = scan::mails_of(answer.usage, answer.report, command);
  for (const scan::Mail& mail : mails) TRY(write_output(folder + "/" + mail.file, mail.text));
  return mails.size();
}

Result<> write_alerts(const FleetAnswer& answer, const std::string& file) {
  return write_output(file, TRY(scan::alert_rules(answer.report)));
}

}  // namespace amdahl::app
