#include "fleet/nvidia_smi/nvidia_smi.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/cut_lines.h"
#include "fleet/hostlist.h"
#include "fleet/metrics.h"
#include "fleet/nvidia_smi/names.h"
#include "fleet/nvidia_smi/ticks.h"
#include "fleet/table/cells.h"
#include "fleet/times.h"
#include "fleet/values.h"

namespace amdahl::fleet::nvidia_smi {
namespace {

using model::Trouble;

// Columns that are measured, not names.
bool is_measured(std::string_view column) {
  for (const std::string_view prefix : {"utilization.", "memory.", "power.", "temperature.",
                                        "clocks.", "fan.", "pcie.", "encoder.", "ecc."}) {
    if (column.starts_with(prefix)) return true;
  }
  return false;
}

bool is_header(std::string_view line) {
  return line.find("timestamp") != line.npos && line.find("utilization.gpu") != line.npos;
}

// "2024/03/01 00:00:10.000", as nothing else writes it.
bool is_time_cell(std::string_view cell) {
  constexpr std::string_view kForm = "dddd/dd/dd dd:dd:dd.ddd";
  if (cell.size() != kForm.size()) return false;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    const bool is_digit = cell[i] >= '0' && cell[i] <= '9';
    if (kForm[i] == 'd' ? !is_digit : cell[i] != kForm[i]) return false;
  }
  return true;
}

// What the columns of a record are, where nobody has named them (noheader): known by their units if
// one is a time, and one in percent: that of memory, if it is there, stands after that of the GPU.
// Empty if not.
std::vector<std::string> names_by_cells(std::string_view line) {
  table::Cells cells;
  if (line.find('|') != line.npos || !cells.cut(line, ',')) return {};
  std::vector<std::string> names;
  int times = 0;
  int shares = 0;
  bool has_index = false;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string_view cell = trim(cells[i]);
    const bool is_whole = !cell.empty() && cell.find_first_not_of("0123456789") == cell.npos;
    names.emplace_back("?");
    if (is_time_cell(cell)) {
      names.back() = "timestamp";
      ++times;
    } else if (cell.starts_with("GPU-")) {
      names.back() = "uuid";
    } else if (cell.ends_with(" %")) {
      names.back() = ++shares == 1 ? "utilization.gpu" : "utilization.memory";
    } else if (is_whole && cell.size() <= 2 && !has_index && shares == 0) {
      names.back() = "index";
      has_index = true;
    }
  }
  if (times != 1 || shares == 0 || shares > 2) return {};
  return names;
}

std::string_view first_line(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  return trim(head.substr(0, head.find('\n')));
}

bool looks_like_date(std::string_view word) {
  return word.size() >= 4 && word.find_first_not_of("0123456789-T:") == word.npos;
}

class SmiReader final : public Reader {
 public:
  SmiReader(Intake& intake, const ReaderOptions& options)
      : intake_{intake},
        host_{options.host.empty() ? host_in_path(options.path) : options.host},
        zone_{zone_named(options.time_zone, options.zone_rules)},
        head_{options.head},
        by_cells_{names_by_cells(first_line(options.head))} {}

  Result<> feed(std::string_view bytes) override {
    if (!zone_) return zone_.error();
    return lines_.feed(bytes,
                       [&](std::string_view line, Where where) { return take(line, where); });
  }

  Result<> finish() override {
    if (!zone_) return zone_.error();
    TRY(lines_.finish([&](std::string_view line, Where where) { return take(line, where); }));
    if (!held_.empty()) TRY(find_ticks());
    if (other_samples_ > 0) intake_.troubles(Trouble::kOtherMetric, other_samples_);
    return Ok{};
  }

 private:
  static constexpr std::size_t kMostHeld = 100;  // Rows that show how many GPUs there are.

  struct Held {
    std::string line;
    Where where;
  };
  struct Gpu {
    std::vector<SeriesId> series;  // One a measured column.
  };

  Result<> take(std::string_view line, Where where) {
    if (trim(line).empty()) return Ok{};
    if (is_header(line)) return header(line);  // It comes again with each start of nvidia-smi.
    if (names_.empty()) {
      if (by_cells_.empty()) by_cells_ = names_by_cells(line);
      if (by_cells_.empty()) {
        return bad_input(
            "the first line is not the header of nvidia-smi --query-gpu, nor does it say by its "
            "units what its columns are; run it with --format=csv, without noheader");
      }
      TRY(columns(std::move(by_cells_)));
    }
    if (!is_ordered_ || ticks_) {
      record(line, where);
      return Ok{};
    }
    held_.push_back({std::string(line), where});
    return held_.size() < kMostHeld ? Result<>(Ok{}) : find_ticks();
  }

  // Rows that do not say which GPU they are about: by their order.
  Result<> find_ticks() {
    std::vector<Nanos> times;
    const auto look = [&](std::string_view line) {
      table::Cells cells;
      if (times.size() >= kMostHeld || !cells.cut(line, ',') || cells.size() != names_.size()) {
        return;
      }
      const Instant time = read_time(cells[static_cast<std::size_t>(time_)], *zone_);
      if (time.known()) times.push_back(time.at);
    };
    // The beginning of the input decides, also where only a later part of it is read.
    std::vector<std::string_view> lines = split(head_, '\n');
    if (!lines.empty()) lines.pop_back();  // May be cut.
    for (const std::string_view line : lines) look(trim(line));
    if (times.size() < 3) {
      times.clear();
      for (const Held& held : held_) look(held.line);
    }
    ticks_ = ticks_of(times);
    if (!ticks_) {
      return bad_input("does not say which GPU a row is about; query index or uuid too");
    }
    for (const Held& held : std::exchange(held_, {})) record(held.line, held.where);
    return Ok{};
  }

  // The number of the GPU that a row at this time is about.
  void count_row(Nanos at) {
    const bool is_next = row_ >= 0 && at - row_at_ <= ticks_->apart && row_ + 1 < ticks_->gpus;
    row_ = is_next ? row_ + 1 : 0;
    row_at_ = at;
    row_name_ = std::to_string(row_);
  }

  Result<> header(std::string_view line) {
    cells_.cut(line, ',');
    std::vector<std::string> names;
    for (std::size_t i = 0; i < cells_.size(); ++i) names.emplace_back(plain_column(cells_[i]));
    return columns(std::move(names));
  }

  Result<> columns(std::vector<std::string> names) {
    names_ = std::move(names);
    measured_.clear();
    others_ = 0;
    gpus_.clear();
    time_ = index_ = uuid_ = bus_ = name_ = -1;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const std::string_view name = names_[i];
      const int at = static_cast<int>(i);
      if (name == "timestamp") time_ = at;
      if (name == "index") index_ = at;
      if (name == "uuid") uuid_ = at;
      if (name == "pci.bus_id") bus_ = at;
      if (name == "name") name_ = at;
      if (find_usage_metric(name) || find_beside_metric(name)) {
        measured_.push_back(i);
      } else if (is_measured(name)) {
        ++others_;
      }
    }
    if (time_ < 0) return bad_input("has no column timestamp");
    is_ordered_ = index_ < 0 && uuid_ < 0 && bus_ < 0;
    return Ok{};
  }

  std::string_view cell(int at) const {
    return at < 0 ? std::string_view() : cells_[static_cast<std::size_t>(at)];
  }

  Gpu& gpu() {
    const int named_by = uuid_ >= 0 ? uuid_ : index_ >= 0 ? index_ : bus_;
    const std::string_view called = is_ordered_ ? std::string_view(row_name_) : cell(named_by);
    const auto found = gpus_.find(called);
    if (found != gpus_.end()) return found->second;
    Gpu made;
    for (const std::size_t column : measured_) {
      made.series.push_back(
          intake_.series({.host = host_,
                          .accelerator = is_ordered_   ? std::string_view(row_name_)
                                         : index_ >= 0 ? cell(index_)
                                                       : cell(bus_),
                          .uuid = is_blank_word(cell(uuid_)) ? std::string_view() : cell(uuid_),
                          .slice = {},
                          .job = {},
                          .metric = names_[column],
                          .kind = is_blank_word(cell(name_)) ? std::string_view() : cell(name_)}));
    }
    if (index_ >= 0 && bus_ >= 0) {
      intake_.tell(Device{.host = host_, .accelerator = cell(index_), .bus = cell(bus_)});
    }
    return gpus_.emplace(std::string(called), std::move(made)).first->second;
  }

  void record(std::string_view line, Where where) {
    if (!cells_.cut(line, ',') || cells_.size() != names_.size()) {
      intake_.trouble(Trouble::kBadLine, where,
                      fmt::format("has {} cells, expected {}", cells_.size(), names_.size()));
      return;
    }
    const Instant time = read_time(cell(time_), *zone_);
    if (!time.known()) {
      intake_.trouble(Trouble::kBadTime, where,
                      fmt::format("timestamp '{}' is not a time", clip(cell(time_), 40)));
      return;
    }
    if (time.ambiguous() || time.skipped) {
      intake_.trouble(Trouble::kAmbiguousTime, where, cell(time_));
    }
    if (is_ordered_) count_row(time.at);
    other_samples_ += others_;
    const Gpu& of = gpu();
    for (std::size_t i = 0; i < measured_.size(); ++i) {
      const Value value = read_value(cells_[measured_[i]]);
      if (!value) {
        intake_.trouble(
            *value.trouble, where,
            fmt::format("{} '{}'", names_[measured_[i]], clip(cells_[measured_[i]], 40)));
        continue;
      }
      const Sample sample{settled(time), static_cast<float>(value.number)};
      intake_.samples(of.series[i], {&sample, 1});
    }
    last_ = settled(time);
  }

  // In the hour that daylight saving repeats, time that would run backwards is its second pass.
  Nanos settled(const Instant& time) const {
    return time.ambiguous() && time.at < last_ - std::chrono::minutes{5} ? time.other : time.at;
  }

  Intake& intake_;
  std::string host_;
  Result<Zone> zone_;
  std::string head_;
  LineCutter lines_;
  std::vector<std::string> by_cells_;  // Of a log without a header.
  table::Cells cells_;
  std::vector<std::string> names_;
  std::vector<std::size_t> measured_;
  std::map<std::string, Gpu, std::less<>> gpus_;
  Nanos last_{};
  int time_ = -1;
  int index_ = -1;
  int uuid_ = -1;
  int bus_ = -1;
  int name_ = -1;
  std::uint64_t others_ = 0;  // Columns that are measured, but not used.
  std::uint64_t other_samples_ = 0;

  bool is_ordered_ = false;  // Nothing but its place in a round says which GPU a row is about.
  std::vector<Held> held_;
  std::optional<Ticks> ticks_;
  int row_ = -1;  // In its round, with its time and as a name.
  Nanos row_at_{};
  std::string row_name_;
};

}  // namespace

namespace {

// What it is shows with its first line.
class EitherReader final : public Reader {
 public:
  EitherReader(Intake& intake, const ReaderOptions& options) : intake_{intake}, options_{options} {}

  Result<> feed(std::string_view bytes) override {
    if (reader_) return reader_->feed(bytes);
    first_ += bytes;
    const std::size_t mark = first_.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    const std::size_t text = first_.find_first_not_of("\r\n", mark);
    const bool whole = text != first_.npos && first_.find('\n', text) != first_.npos;
    return whole || first_.size() > kHeadBytes ? begin() : Ok{};
  }

  Result<> finish() override {
    if (!reader_) TRY(begin());
    return reader_->finish();
  }

 private:
  Result<> begin() {
    if (claims_names(std::string_view(first_).substr(0, kHeadBytes))) {
      reader_ = make_names(intake_, options_);
    } else {
      reader_ = std::make_unique<SmiReader>(intake_, options_);
    }
    return reader_->feed(first_);
  }

  Intake& intake_;
  ReaderOptions options_;
  std::string first_;
  std::unique_ptr<Reader> reader_;
};

}  // namespace

std::string_view plain_column(std::string_view column) {
  column = trim(column.substr(0, column.find('[')));
  if (column == "gpu_uuid") return "uuid";
  if (column == "gpu_name") return "name";
  if (column == "gpu_bus_id") return "pci.bus_id";
  return column;
}

std::string host_in_path(std::string_view path) {
  std::vector<std::string_view> parts = split(path, '/');
  std::string_view file = parts.back();
  file = file.substr(0, file.find('.'));
  // "nvidia-smi-gpu01.csv", "gpu01-smi.csv"
  for (const std::string_view word : {"nvidia-smi-", "nvsmi-", "smi-"}) {
    if (file.starts_with(word)) file.remove_prefix(word.size());
  }
  for (const std::string_view word : {"-nvidia-smi", "-nvsmi", "-smi"}) {
    if (file.ends_with(word)) file.remove_suffix(word.size());
  }
  std::string_view folder = parts.size() < 2 ? std::string_view() : parts[parts.size() - 2];
  if (folder == "." || folder == "..") folder = {};
  const auto has_digit = [](std::string_view word) {
    return word.find_first_of("0123456789") != word.npos;
  };
  std::string_view first;
  for (const std::string_view word : split(file, '_')) {
    if (word.empty() || looks_like_date(word)) continue;
    const std::string small = lower(word);
    if (small == "nvidia" || small == "smi" || small == "nvidia-smi" || small == "gpu" ||
        small == "nvsmi" || small == "log" || small == "query" || small == "util") {
      continue;
    }
    if (has_digit(word)) return std::string(short_host(word));
    if (first.empty()) first = word;
  }
  // Hosts mostly have a number.
  const bool by_folder = !folder.empty() && !looks_like_date(folder) && has_digit(folder);
  return std::string(short_host(first.empty() || by_folder ? folder : first));
}

bool claims(std::string_view head) { return claims_samples(head) || claims_names(head); }

bool claims_samples(std::string_view head) {
  const std::string_view line = first_line(head);
  if (!names_by_cells(line).empty()) return true;
  // A column for the host is somebody's own: so is the table.
  for (const std::string_view name : split(line, ',')) {
    const std::string column = lower(trim(name));
    if (column.starts_with("host") || column.starts_with("node")) return false;
  }
  // Commas only: other tables may have columns of these names too.
  return is_header(line) && line.find(',') != line.npos && line.find('|') == line.npos &&
         line.find('{') == line.npos;
}

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options) {
  return std::make_unique<EitherReader>(intake, options);
}

Explained explain(std::string_view head, const ReaderOptions&) {
  std::vector<std::string> names = names_by_cells(first_line(head));
  const bool has_header = names.empty();
  if (has_header && claims_names(head)) {
    return {Gives::kJobs, "what GPUs are called; nothing of their usage", Appended::kAfterHeader};
  }
  if (has_header) {
    for (const std::string_view name : split(first_line(head), ',')) {
      names.emplace_back(plain_column(name));
    }
  }
  const bool is_named = std::ranges::any_of(names, [](std::string_view name) {
    return name == "index" || name == "uuid" || name == "pci.bus_id";
  });
  Explained said{.gives = Gives::kSamples};
  if (is_named) said.appended = has_header ? Appended::kAfterHeader : Appended::kAlone;
  if (!has_header) {
    said.text =
        "no header: the first column in % is read as utilization.gpu, a column of small whole "
        "numbers as the index";
  }
  if (!is_named) {
    said.text +=
        fmt::format("{}no column for the GPU: rows are assumed to be in the order of the GPUs",
                    said.text.empty() ? "" : "\n");
  }
  return said;
}

}  // namespace amdahl::fleet::nvidia_smi
