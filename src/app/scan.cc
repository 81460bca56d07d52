#include "app/scan.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "app/scan_merge.h"
#include "app/scan_prometheus.h"
#include "app/scan_read.h"
#include "app/scan_select.h"
#include "base/text.h"
#include "fleet/label_jobs.h"
#include "fleet/slurm/live.h"
#include "fleet/slurm/slurm.h"
#include "fleet/times.h"
#include "os/fault.h"
#include "os/files.h"
#include "os/program.h"
#include "scan/families.h"
#include "scan/fold.h"
#include "scan/trend.h"

namespace amdahl::app {
namespace {

using std::chrono::hours;

// What no scan has used for so long goes.
constexpr Nanos kKeepUnused = hours(24 * 90);

// A file of the scan with the source that named it.
struct Found {
  Input input;
  ScanSource source;
};

Result<fleet::ReaderOptions> reader_options(const ScanSource& source, const std::string& path,
                                            Nanos now, int threads) {
  fleet::ReaderOptions options;
  options.path = path;
  options.host = source.host;
  options.fields = source.fields;
  options.time_zone = source.time_zone;
  options.now = now;
  options.threads = threads;
  if (const std::string file = fleet::zone_file(source.time_zone); !file.empty()) {
    options.zone_rules = TRY(os::read_file(file).in("--time-zone"));
  }
  if (!source.map.empty()) options.mapping = TRY(os::read_file(source.map).in("--map"));
  return options;
}

bool is_folder(const std::string& path) { return std::filesystem::is_directory(path); }

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  for (std::filesystem::recursive_directory_iterator it(folder, failed), end; it != end;
       it.increment(failed)) {
    if (failed) break;
    const std::string name = it->path().filename().string();
    if (it->is_regular_file(failed) && !name.starts_with('.')) files.push_back(it->path().string());
  }
  std::ranges::sort(files);
  return files;
}

class Scanner {
 public:
  Scanner(const Config& config, ledger::Ledger* ledger, os::Clock& clock,
          const ScanOptions& options)
      : config_{config},
        ledger_{ledger},
        clock_{clock},
        options_{options},
        now_{clock.unix_time()},
        stop_{options.stop ? options.stop : [] { return false; }} {}

  Result<FleetAnswer> run() {
    TRY(gather());
    const bool any_jobs = std::ranges::any_of(files_, gives_jobs) || !slurm_.empty();
    scan::Fold fold(fold_options());
    fold_ = &fold;
    TRY(ask_servers());
    for (const ScanSource& source : slurm_) TRY(ask_slurm(source));
    if (!any_jobs) TRY(jobs_by_label());
    for (const fleet::Gives gives :
         {fleet::Gives::kJobs, fleet::Gives::kBoth, fleet::Gives::kSamples}) {
      for (const Found& found : files_) {
        if (found.input.source.gives == gives) TRY(read(found));
      }
    }
    for (const Served& served : served_) TRY(tell(served));
    prune();
    os::fault_point("scan-read");
    return conclude(std::move(fold).finish());
  }

 private:
  struct Served {
    ScanSource source;
    PrometheusSaid said;
  };

  static bool gives_jobs(const Found& found) {
    return found.input.source.gives != fleet::Gives::kSamples;
  }

  scan::FoldOptions fold_options() const {
    scan::FoldOptions fold;
    fold.idle_below = options_.idle_below.value_or(config_.idle_threshold);
    fold.now = now_;
    fold.timelines_of = options_.timelines_of;
    fold.stop = stop_;
    const bool asked = options_.from || options_.to || options_.window;
    if (asked || !live_.empty() || !slurm_.empty()) {
      const scan::Window window = this->window();
      fold.window = window;
    }
    return fold;
  }

  scan::Window window() const {
    const Nanos length = options_.window.value_or(std::chrono::duration_cast<Nanos>(
        std::chrono::duration<double, std::ratio<86400>>(config_.scan_window_days)));
    const Nanos end = options_.to.value_or(
        options_.from && options_.window ? *options_.from + *options_.window : now_);
    return {options_.from.value_or(end - length), end};
  }

  Result<> gather() {
    std::vector<ScanSource> sources = options_.sources;
    const bool by_default = sources.empty();
    if (by_default) {
      sources = config_.scan_sources;
      const std::string here = config_.state_dir + "/usage";
      if (os::exists(here)) sources.insert(sources.begin(), ScanSource{.where = here});
    }
    for (const ScanSource& source : sources) TRY(gather(source));
    if (files_.empty() && live_.empty() && slurm_.empty()) {
      return Error{
          Error::Kind::kNotFound,
          by_default || answer_.inputs.empty()
              ? "there is nothing to scan yet; run a job: amdahl run -- CMD, or name files "
                "or a source: amdahl scan sacct.txt dcgm.csv.gz"
              : fmt::format("none of {} files could be read:{}", answer_.inputs.size(),
                            first_left_out())};
    }
    return Ok{};
  }

  std::string first_left_out() const {
    constexpr std::size_t kShown = 5;
    std::string text;
    for (std::size_t i = 0; i < std::min(kShown, answer_.inputs.size()); ++i) {
      text += fmt::format("\n  {}", answer_.inputs[i].left_out);
    }
    const std::size_t more = answer_.inputs.size() - std::min(kShown, answer_.inputs.size());
    return more == 0 ? text : fmt::format("{}\n  and {} more", text, more);
  }

  Result<> gather(const ScanSource& source) {
    if (is_live(source)) {
      (source.kind == "slurm" ? slurm_ : live_).push_back(source);
      return Ok{};
    }
    if (source.where == "-") return add(source, "-", true);
    if (is_folder(source.where)) {
      for (const std::string& file : files_below(source.where)) TRY(add(source, file, false));
      return Ok{};
    }
    const std::vector<std::string> matches = os::glob(source.where);
    if (matches.empty()) {
      return Error{Error::Kind::kNotFound,
                   fmt::format("{}: there is no such file or folder", source.where)};
    }
    for (const std::string& path : matches) {
      if (is_folder(path)) {
        for (const std::string& file : files_below(path)) TRY(add(source, file, false));
      } else {
        TRY(add(source, path, true));
      }
    }
    return Ok{};
  }

  Result<> add(const ScanSource& source, const std::string& path, bool named) {
    const std::string kind = source.kind.empty() && !source.map.empty() ? "csv" : source.kind;
    const fleet::ReaderOptions options = TRY(reader_options(source, path, now_, options_.threads));
    auto input = recognise(path, kind, options);
    if (input) {
      files_.push_back({*std::move(input), source});
      return Ok{};
    }
    if (named) return input.error();  // A person said this one.
    InputRead left;
    left.name = path;
    // What it would need is for those who ask for this file alone.
    left.left_out = input.error().text.substr(0, input.error().text.find('\n'));
    answer_.inputs.push_back(std::move(left));
    return Ok{};
  }

  void progress(const ScanProgress& progress) const {
    if (options_.progress) options_.progress(progress);
  }

  void prune() const {
    if (options_.keep) prune_kept(keep_folder(), now_, kKeepUnused);
  }

  std::string keep_folder() const { return config_.state_dir + "/scan"; }

  Result<> ask_servers() {
    const scan::Window window = this->window();
    for (const ScanSource& source : live_) {
      PrometheusAsk ask;
      ask.source = source;
      ask.window = {window.start, window.end};
      ask.folder = keep_folder();
      ask.fresh = options_.fresh;
      const std::string name = describe(source);
      auto said = ask_prometheus(ask, clock_, stop_, [&](PrometheusProgress p) {
        progress({name, p.done, p.pieces, true});
      });
      if (stop_()) return external("interrupted");
      served_.push_back({source, TRY(std::move(said))});
    }
    return Ok{};
  }

  // Each program's output is an input of its own.
  Result<> ask_slurm(const ScanSource& source) {
    const scan::Window window = this->window();
    for (const fleet::slurm::Command& command :
         fleet::slurm::commands({window.start, window.end, source.where})) {
      const std::string name = fmt::format("{}: {}", describe(source), command.name);
      const auto before = begin(name);
      fleet::ReaderOptions options;
      options.path = command.name;
      options.time_zone = "UTC";
      options.now = now_;
      const auto reader = fleet::slurm::make(*fold_, options);
      std::uint64_t bytes = 0;
      auto done = os::run_program(
          {.argv = command.argv, .env = command.env},
          [&](std::string_view piece) {
            bytes += piece.size();
            return reader->feed(piece);
          },
          stop_);
      if (done) done = reader->finish();
      if (stop_()) return external("interrupted");
      InputRead& read = end(name, before);
      read.read_as = fmt::format("slurm: {}", command.says);
      read.bytes = bytes;
      if (done) continue;
      read.left_out = done.error().text;
      if (command.required) return std::move(done).in(name);
      answer_.missing.push_back(fmt::format("{}: {}", command.says, done.error().text));
      fold_->trouble(model::Trouble::kMissing, {}, answer_.missing.back());
    }
    return Ok{};
  }

  scan::Fold::Counts begin(const std::string& name) {
    fold_->input(name);
    return fold_->counts();
  }

  InputRead& end(const std::string& name, const scan::Fold::Counts& before) {
    const scan::Fold::Counts now = fold_->counts();
    InputRead& read = answer_.inputs.emplace_back();
    read.name = name;
    read.jobs = now.jobs - before.jobs;
    read.series = now.series - before.series;
    read.samples = now.samples - before.samples;
    return read;
  }

  Result<ReadOptions> read_options(const Found& found) const {
    ReadOptions options;
    options.reader = TRY(reader_options(found.source, found.input.path, now_, options_.threads));
    if (found.input.path != "-") options.reader.head = found.input.head;
    if (options_.keep) options.folder = keep_folder();
    options.fresh = options_.fresh;
    options.stop = stop_;
    options.progress = [this, &found](std::uint64_t bytes) {
      progress({found.input.path, bytes, found.input.bytes, false});
    };
    return options;
  }

  Result<> read(const Found& found) {
    const std::string& path = found.input.path;
    const std::string name = path == "-" ? "standard input" : path;
    const ReadOptions options = TRY(read_options(found));
    const auto before = begin(name);
    fleet::WithoutHints sieve(*fold_);
    auto said = read_input(found.input, sieve, options);
    if (stop_()) return external("interrupted");
    InputRead& read = end(name, before);
    read.read_as = fmt::format("{}: {}", found.input.source.name, found.input.source.reads);
    if (found.input.packing != fleet::Packing::kNone)
      read.packing = fleet::name(found.input.packing);
    if (!said) {
      read.left_out = said.error().text;
      if (files_.size() == 1 || options_.sources.size() == files_.size()) return said.error();
      fold_->trouble(model::Trouble::kBadLine, {}, said.error().text);
      return Ok{};
    }
    read.bytes = said->read + said->known;
    read.known = said->known;
    read.known_by = found.input.said.text;
    if (!said->anew.empty()) read.notes = fmt::format("{}, so it was read anew", said->anew);
    return Ok{};
  }

  // Without accounting a job is what samples are labelled with, from the first to the last.
  Result<> jobs_by_label() {
    fleet::LabelJobs labels;
    for (const Found& found : files_) {
      if (found.input.path == "-") continue;
      const ReadOptions options = TRY(read_options(found));
      if (auto said = read_input(found.input, labels, options); !said && stop_()) {
        return external("interrupted");
      }
    }
    for (const Served& served : served_) TRY(replay(served.said, labels, false));
    answer_.jobs_by_label = true;
    labels.tell(*fold_);
    return Ok{};
  }

  Result<> tell(const Served& served) {
    const std::string name = describe(served.source);
    const auto before = begin(name);
    fleet::WithoutHints sieve(*fold_);
    TRY(replay(served.said, sieve, true));
    InputRead& read = end(name, before);
    std::vector<std::string> says;
    for (const auto& selection : served.said.selections) {
      says.push_back(fmt::format("{} every {}", selection.says, show_duration(selection.step)));
    }
    read.read_as = fmt::format("prometheus: {}", join(says, "; "));
    read.bytes = served.said.bytes;
    read.notes = fmt::format("{} pieces, {} of them known from before, {} missing",
                             served.said.pieces, served.said.kept, served.said.missing.size());
    for (const MissingPiece& piece : served.said.missing) {
      answer_.missing.push_back(fmt::format("{} from {} to {}: {}", piece.metric,
                                            show_utc(piece.from), show_utc(piece.to), piece.why));
    }
    for (const std::string& warning : served.said.warnings) answer_.missing.push_back(warning);
    return Ok{};
  }

  Result<FleetAnswer> conclude(scan::FleetUsage usage) {
    if (stop_()) return external("interrupted");
    answer_.usage = std::move(usage);
    scan::Recogniser recogniser = TRY(scan::Recogniser::make(config_.family_rules));
    answer_.families = scan::families_of(answer_.usage, std::move(recogniser), stop_);
    if (stop_()) return external("interrupted");
    os::fault_point("scan-ranked");
    scan::Memories memories;
    if (ledger_) {
      memories = TRY(memories_of(*ledger_));
      for (const auto& [family, _] : memories.families) answer_.with_spec.push_back(family);
    }
    for (const std::string& name : os::list(config_.state_dir + "/usage")) {
      if (name.ends_with(".json")) answer_.local_jobs.insert(name.substr(0, name.size() - 5));
    }
    scan::ReportOptions report = options_.report;
    report.stop = stop_;
    answer_.report = scan::report(answer_.usage, answer_.families, memories, report);
    if (stop_()) return external("interrupted");
    if (report.trend_every > Nanos{} && answer_.report.trends.empty()) {
      return bad_input(fmt::format("--trend: there are more than {} windows in {}",
                                   scan::kMostTrendWindows,
                                   show_duration(answer_.report.end - answer_.report.start)));
    }
    return std::move(answer_);
  }

  const Config& config_;
  ledger::Ledger* ledger_;
  os::Clock& clock_;
  const ScanOptions& options_;
  Nanos now_;
  os::Stop stop_;
  std::vector<Found> files_;
  std::vector<ScanSource> live_;
  std::vector<ScanSource> slurm_;
  std::vector<Served> served_;
  scan::Fold* fold_ = nullptr;
  FleetAnswer answer_;
};

}  // namespace

Result<FleetAnswer> scan_all(const Config& config, ledger::Ledger* ledger, os::Clock& clock,
                             const ScanOptions& options) {
  return Scanner(config, ledger, clock, options).run();
}

}  // namespace amdahl::app
