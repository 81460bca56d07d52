#include "ingest/ingest.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/intake_filters.h"
#include "fleet/journal/journal.h"
#include "fleet/label_jobs.h"
#include "ingest/files.h"
#include "ingest/merge.h"
#include "ingest/programs.h"
#include "ingest/prometheus.h"
#include "ingest/read.h"
#include "ingest/select.h"
#include "ingest/sort.h"
#include "ingest/zone.h"
#include "os/fault.h"
#include "os/files.h"
#include "scan/assumptions.h"
#include "scan/usage_accumulator.h"

namespace amdahl::ingest {
namespace {

// Reads all origins of a scan, as often as it takes.
class Driver {
 public:
  Driver(const Options& options, os::Clock& clock)
      : options_{options},
        clock_{clock},
        now_{clock.unix_time()},
        stop_{options.stop ? options.stop : [] { return false; }} {}

  Result<Ingested> run() {
    TRY(gather());
    put_in_order(files_, left_out_);
    std::ranges::stable_sort(live_, {}, [](const Origin& source) { return describe(source); });
    std::ranges::stable_sort(slurm_, {}, &Origin::where);
    TRY(ask_servers());
    for (const Origin& source : slurm_) {
      std::vector<Program> said = TRY(ask_slurm(source, window(), now_, stop_));
      std::ranges::move(said, std::back_inserter(programs_));
    }
    local_side_ = local_side(files_, {.jobs = !programs_.empty(), .samples = !served_.empty()});
    TRY(copy_pipe(local_side_.has_value()));
    std::optional<scan::FleetUsage> usage = TRY(join_all());
    while (!usage) usage = TRY(join_all());
    prune();
    os::fault_point("scan-read");
    return conclude(*std::move(usage));
  }

 private:
  struct Served {
    Origin source;
    PrometheusSaid said;
  };

  // Copies inputs that can be read only once if a second pass may be needed: except a single pipe
  // of samples for which everything else is already known.
  Result<> copy_pipe(bool anyway) {
    std::size_t others = live_.size();
    for (const Found& found : files_) {
      others += !found.is_pipe() && found.gives != fleet::Gives::kJobs ? 1 : 0;
    }
    for (Found& found : files_) {
      if (!found.is_pipe()) continue;
      if (!anyway && others == 0 && found.gives == fleet::Gives::kSamples) continue;
      CopiedInput made = TRY(copy_input(found.input, next_copy(), stop_).in(found.input.name));
      found.input = made.input;
      found.is_copy = true;
      copies_.push_back(std::move(made.file));
    }
    return Ok{};
  }

  std::string next_copy() const {
    const std::string folder = os::make_dirs(options_.folder)
                                   ? options_.folder
                                   : std::filesystem::temp_directory_path().string();
    return fmt::format("{}/input-{}-{}", folder, now_.count(), copies_.size());
  }

  Result<std::string> copy_of(const std::string& path) {
    Input pipe;
    pipe.path = pipe.name = path;
    CopiedInput made = TRY(copy_input(pipe, next_copy(), stop_).in(path));
    copies_.push_back(std::move(made.file));
    return made.input.path;
  }

  // What reading all inputs taught of how to read them.
  struct Lesson {
    // Samples also give jobs, places and names: read these first, from all.
    bool all_twice = false;
    Sorter::Names unordered;
    std::optional<scan::Window> clocks;
    std::optional<scan::ZoneFit> zone;  // Of inputs in local time.
  };

  // Whether a second pass over everything would improve the result.
  Result<bool> learn(std::optional<scan::ZoneFinder> finder) {
    if (std::ranges::any_of(files_, &Found::is_pipe)) return false;
    bool is_new = false;
    if (!lesson_.all_twice && accumulator_->came_late()) lesson_.all_twice = is_new = true;
    if (const auto clocks = accumulator_->clocks()) {
      lesson_.clocks = clocks->window;
      is_new = true;
    }
    for (std::string& name : accumulator_->out_of_order()) {
      is_new = lesson_.unordered.insert(std::move(name)).second || is_new;
    }
    if (is_new || !finder) return is_new;
    return learn_zone(std::move(*finder).find());
  }

  // Where no start or end of a job is near, or hardly any time hangs on one, any zone will do.
  Result<bool> learn_zone(scan::ZoneFit fit) {
    constexpr double kMatters = 0.01;
    if (!fit.is_sure && fit.share > kMatters) return unknown_zone(files_, fit);
    if (!fit.is_sure) fit.offset_s = 0;
    lesson_.zone = fit;
    return fit.offset_s != 0;
  }

  // Jobs, places and names from all inputs, then samples. Nothing if they are to be read again.
  Result<std::optional<scan::FleetUsage>> join_all() {
    scan::UsageAccumulator accumulator(usage_options());
    accumulator_ = &accumulator;
    std::optional<scan::ZoneFinder> finder;
    if (local_side_ && !lesson_.zone) finder.emplace(*local_side_);
    std::optional<ZoneTap> tap;
    if (local_side_) {
      const int offset_s = lesson_.zone ? lesson_.zone->offset_s : 0;
      tap.emplace(accumulator, finder ? &*finder : nullptr, *local_side_,
                  std::chrono::seconds{offset_s});
    }
    tap_ = tap ? &*tap : nullptr;
    fleet::Intake& known = tap ? static_cast<fleet::Intake&>(*tap) : accumulator;
    std::optional<Sorter> sorter;
    if (!lesson_.unordered.empty()) {
      sorter.emplace(known, lesson_.unordered, next_copy() + "-order");
    }
    sorter_ = sorter ? &*sorter : nullptr;
    fleet::Intake& all = sorter ? static_cast<fleet::Intake&>(*sorter) : known;
    const bool all_twice = lesson_.all_twice;
    answer_.inputs = left_out_;
    answer_.missing.clear();
    for (Found& found : files_) found.row = 0;
    for (const Program& program : programs_) TRY(tell(program, known));
    fleet::JobsOnly jobs(known);
    fleet::SamplesOnly samples(all);
    const auto twice = [&](const Found& found) {
      return !found.is_pipe() && (found.gives == fleet::Gives::kBoth ||
                                  (found.gives == fleet::Gives::kSamples && all_twice));
    };
    for (Found& found : files_) {
      if (found.gives == fleet::Gives::kJobs) TRY(read(found, known));
      if (twice(found)) TRY(read(found, jobs));
    }
    if (all_twice) {
      for (const Served& served : served_) TRY(replay(served.said, jobs, false));
    }
    if (accumulator.counts().jobs == 0) TRY(jobs_by_label());
    for (Found& found : files_) {
      if (twice(found)) {
        TRY(read(found, samples));
      } else if (found.gives != fleet::Gives::kJobs) {
        TRY(read(found, all));
      }
    }
    for (const Served& served : served_) TRY(tell(served, all));
    if (sorter) TRY(sorter->tell_held(stop_).in("sorting samples"));
    if (stop_()) return external("interrupted");
    if (TRY(learn(std::move(finder)))) return std::optional<scan::FleetUsage>();
    return std::optional(std::move(accumulator).finish());
  }

  scan::UsageOptions usage_options() const {
    scan::UsageOptions accumulator;
    accumulator.idle_below = options_.idle_below.value_or(accumulator.idle_below);
    accumulator.now = now_;
    accumulator.timeline_lanes = options_.timeline_lanes.value_or(accumulator.timeline_lanes);
    accumulator.timelines_of = options_.timelines_of;
    accumulator.stop = stop_;
    accumulator.window = has_live() ? window() : window_of_files();
    accumulator.clocks = lesson_.clocks;
    return accumulator;
  }

  bool has_live() const { return !live_.empty() || !slurm_.empty(); }

  // An end that was not asked for is where their data end.
  scan::Window window_of_files() const {
    scan::Window open{Nanos::min(), Nanos::max()};
    if (options_.window) return window();
    return {options_.from.value_or(open.start), options_.to.value_or(open.end)};
  }

  scan::Window window() const {
    const Nanos length = options_.window.value_or(options_.live_window);
    const Nanos end = options_.to.value_or(
        options_.from && options_.window ? *options_.from + *options_.window : now_);
    return {options_.from.value_or(end - length), end};
  }

  Result<> gather() {
    const FindOptions find{options_.sources ? *options_.sources : fleet::sources(), now_,
                           options_.threads, stop_,
                           [this](const std::string& path) { return copy_of(path); }};
    for (const Origin& origin : options_.origins) {
      if (stop_()) return external("interrupted");
      if (!is_live(origin)) {
        TRY(find_files(origin, find, files_, left_out_));
      } else {
        (origin.kind == "slurm" ? slurm_ : live_).push_back(origin);
      }
    }
    is_strict_ = files_.size() == 1 ||
                 (options_.by_default.empty() && options_.origins.size() == files_.size());
    if (!files_.empty() || has_live()) return Ok{};
    return Error{Error::Kind::kNotFound, nothing()};
  }

  std::string nothing() const {
    if (!options_.by_default.empty()) return options_.by_default;
    if (!left_out_.empty()) return fmt::format("nothing could be read:{}", first_left_out());
    if (options_.origins.empty()) return "there is nothing to read";
    return fmt::format("{}: the folder has no files", options_.origins.front().where);
  }

  std::string first_left_out() const {
    constexpr std::size_t kShown = 5;
    std::string text;
    for (std::size_t i = 0; i < std::min(kShown, left_out_.size()); ++i) {
      text += fmt::format("\n  {}", left_out_[i].left_out);
    }
    const std::size_t more = left_out_.size() - std::min(kShown, left_out_.size());
    return more == 0 ? text : fmt::format("{}\n  and {} more", text, more);
  }

  void progress(const Progress& progress) const {
    if (options_.progress) options_.progress(progress);
  }

  void prune() const {
    if (options_.keep && options_.keep_unused > Nanos{}) {
      prune_kept(options_.folder, now_, options_.keep_unused);
    }
  }

  Result<> ask_servers() {
    const scan::Window window = this->window();
    for (const Origin& source : live_) {
      PrometheusAsk ask;
      ask.source = source;
      ask.window = {window.start, window.end};
      ask.folder = options_.folder;
      ask.fresh = options_.fresh;
      const std::string name = describe(source);
      auto said = ask_prometheus(ask, clock_, stop_, [&](PrometheusProgress p) {
        progress({name, p.done, p.pieces, true});
      });
      if (stop_()) return external("interrupted");
      const bool is_alone = files_.empty() && slurm_.empty() && live_.size() == 1;
      if (!said && said.error().kind == Error::Kind::kExternal && !is_alone) {
        PrometheusSaid none;
        none.missing.push_back({"all", window.start, window.end, said.error().text});
        said = std::move(none);
      }
      served_.push_back({source, TRY(std::move(said))});
    }
    return Ok{};
  }

  Result<> tell(const Program& program, fleet::Intake& known) {
    const auto before = begin(program.name, false);
    const auto reader = fleet::journal::make(known, {});
    TRY(reader->feed(program.journal));
    TRY(reader->finish());
    InputRead& read = answer_.inputs.emplace_back();
    read.name = program.name;
    read.read_as = fmt::format("slurm: {}", program.says);
    read.bytes = program.bytes;
    count(read, before);
    if (program.failed.empty()) return Ok{};
    read.left_out = program.failed;
    answer_.missing.push_back(fmt::format("{}: {}", program.says, program.failed));
    accumulator_->trouble(model::Trouble::kMissing, {}, answer_.missing.back());
    return Ok{};
  }

  scan::UsageAccumulator::Counts begin(const std::string& name, bool is_local) {
    accumulator_->input(name);
    if (tap_) tap_->begin(is_local);
    return counts();
  }

  scan::UsageAccumulator::Counts counts() const {
    scan::UsageAccumulator::Counts counts = accumulator_->counts();
    if (sorter_) counts.samples += sorter_->held();
    return counts;
  }

  void count(InputRead& read, const scan::UsageAccumulator::Counts& before) const {
    const scan::UsageAccumulator::Counts now = counts();
    read.jobs += now.jobs - before.jobs;
    read.series += now.series - before.series;
    read.samples += now.samples - before.samples;
    for (std::size_t i = 0; i < now.troubles.size(); ++i) {
      const std::uint64_t more = now.troubles[i] - before.troubles[i];
      const auto trouble = static_cast<model::Trouble>(i);
      const auto row = std::ranges::find(read.troubles, trouble, &scan::TroubleCount::trouble);
      if (more == 0) continue;
      if (row != read.troubles.end()) {
        row->count += more;
      } else {
        read.troubles.push_back({trouble, more});
      }
    }
  }

  ReadOptions read_options(const Found& found) const {
    ReadOptions options;
    options.reader = found.reader;
    if (!found.is_pipe() && !found.is_copy) options.reader.head = found.input.head;
    if (options_.keep && !found.is_copy) options.folder = options_.folder;
    options.fresh = options_.fresh;
    options.stop = stop_;
    options.progress = [this, &found](std::uint64_t bytes) {
      progress({found.input.name, bytes, found.input.bytes, false});
    };
    return options;
  }

  Result<> read(Found& found, fleet::Intake& intake) {
    const bool is_first = found.row == 0;
    if (!is_first && !answer_.inputs[found.row - 1].left_out.empty()) return Ok{};
    const auto before = begin(found.input.name, found.is_local);
    fleet::WithoutHints sieve(intake);
    auto said = read_input(found.input, sieve, read_options(found));
    if (stop_()) return external("interrupted");
    if (is_first) {
      answer_.inputs.emplace_back();
      found.row = answer_.inputs.size();
    }
    InputRead& read = answer_.inputs[found.row - 1];
    count(read, before);
    read.name = found.input.name;
    read.read_as = fmt::format("{}: {}", found.input.source.name, found.input.source.reads);
    if (found.input.packing != bytes::Packing::kNone)
      read.packing = bytes::name(found.input.packing);
    if (!said) {
      read.left_out = said.error().text;
      if (is_strict_) return said.error();
      accumulator_->trouble(model::Trouble::kBadLine, {}, said.error().text);
      return Ok{};
    }
    if (answer_.not_kept.empty()) answer_.not_kept = said->not_kept;
    if (!is_first) return Ok{};
    read.bytes = said->read + said->known;
    read.known = said->known;
    read.known_by = found.input.said.text;
    if (!said->anew.empty()) read.notes = fmt::format("{}, so it was read again", said->anew);
    return Ok{};
  }

  // Without accounting a job is what samples are labelled with, from the first to the last.
  Result<> jobs_by_label() {
    TRY(copy_pipe(true));
    fleet::LabelJobs labels;
    for (const Found& found : files_) {
      const auto said = read_input(found.input, labels, read_options(found));
      if (!said && stop_()) return external("interrupted");
    }
    for (const Served& served : served_) TRY(replay(served.said, labels, false));
    answer_.jobs_by_label = true;
    labels.tell_jobs(*accumulator_, now_);
    return Ok{};
  }

  Result<> tell(const Served& served, fleet::Intake& all) {
    const std::string name = describe(served.source);
    const auto before = begin(name, false);
    fleet::SamplesOnly samples(all);
    fleet::WithoutHints sieve(lesson_.all_twice ? samples : all);
    TRY(replay(served.said, sieve, true));
    InputRead& read = answer_.inputs.emplace_back();
    read.name = name;
    count(read, before);
    std::vector<std::string> says;
    for (const auto& selection : served.said.selections) {
      says.push_back(fmt::format("{} every {}", selection.says, show_duration(selection.step)));
    }
    read.read_as = fmt::format("prometheus: {}", join(says, "; "));
    read.bytes = served.said.bytes;
    read.notes = fmt::format("{} pieces, {} of them cached, {} missing", served.said.pieces,
                             served.said.kept, served.said.missing.size());
    for (const MissingPiece& piece : served.said.missing) {
      answer_.missing.push_back(fmt::format("{} from {} to {}: {}", piece.metric,
                                            show_utc(piece.from), show_utc(piece.to), piece.why));
    }
    if (answer_.not_kept.empty()) answer_.not_kept = served.said.not_kept;
    for (const std::string& warning : served.said.warnings) answer_.missing.push_back(warning);
    return Ok{};
  }

  Result<Ingested> conclude(scan::FleetUsage usage) {
    if (stop_()) return external("interrupted");
    answer_.usage = std::move(usage);
    for (const InputRead& input : answer_.inputs) {
      const bool is_cut = std::ranges::any_of(input.troubles, [](const scan::TroubleCount& one) {
        return one.trouble == model::Trouble::kTruncated;
      });
      // The last line of a plain file may still be being written.
      if (!is_cut || input.packing.empty()) continue;
      answer_.missing.push_back(fmt::format(
          "{}: the {} file is cut off; {} jobs and {} samples before the cut count. Get "
          "the whole file",
          input.name, input.packing, input.jobs, input.samples));
    }
    auto& assumptions = answer_.usage.assumptions;
    if (answer_.jobs_by_label) answer_.usage.has_accounting = false;
    if (lesson_.zone && lesson_.zone->is_sure) {
      assumptions.insert(assumptions.begin(), found_zone(files_, *lesson_.zone));
      if (auto odd = odd_clocks(*lesson_.zone)) {
        assumptions.insert(assumptions.begin() + 1, *std::move(odd));
      }
    }
    answer_.window_of_samples = !has_live() && !options_.from && !options_.to && !options_.window &&
                                answer_.usage.samples > 0;
    if (answer_.window_of_samples) {
      if (auto left_out = scan::left_out_by(answer_.usage)) {
        assumptions.push_back(*std::move(left_out));
      }
    }
    return std::move(answer_);
  }

  const Options& options_;
  os::Clock& clock_;
  Nanos now_;
  os::Stop stop_;
  std::vector<Found> files_;
  std::vector<Origin> live_;
  std::vector<Origin> slurm_;
  std::vector<Served> served_;
  std::vector<Program> programs_;
  std::vector<InputRead> left_out_;
  std::vector<os::Growing> copies_;  // Of what can be read but once.
  bool is_strict_ = false;           // A person named each of the files.
  scan::UsageAccumulator* accumulator_ = nullptr;
  Sorter* sorter_ = nullptr;  // Null: nothing is to be put in order.
  std::optional<scan::ZoneFinder::Local> local_side_;
  ZoneTap* tap_ = nullptr;  // Null: all times are of one clock, or of known zones.
  Lesson lesson_;
  Ingested answer_;
};

}  // namespace

Result<Ingested> read_fleet(const Options& options, os::Clock& clock) {
  return Driver(options, clock).run();
}

}  // namespace amdahl::ingest
