#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/metrics.h"
#include "fleet/table/devices.h"
#include "fleet/table/guess_samples.h"
#include "fleet/table/long_block.h"
#include "fleet/table/long_workers.h"
#include "fleet/table/synonyms.h"
#include "fleet/table/table.h"
#include "fleet/times.h"

namespace amdahl::fleet::table {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;
// What one thread parses at once: what it makes of it stays in a second-level cache.
constexpr std::size_t kPiece = std::size_t{128} << 10;
constexpr std::size_t kBlock = std::size_t{1} << 20;

// Tells an intake what blocks say, in their order, whoever parsed them.
class Teller {
 public:
  explicit Teller(Intake& intake) : intake_{intake} {}

  void guessed() { is_guess_ = true; }

  // `ids`: of the parser's series, so far; grows by those that are new in this block.
  void tell(LongBlock& block, std::vector<SeriesId>& ids) {
    for (const LongBlock::NewSeries& one : block.fresh) {
      ids.push_back(intake_.series({.host = one.host,
                                    .accelerator = accelerator_index(one.device),
                                    .uuid = one.uuid,
                                    .slice = one.slice,
                                    .job = one.job,
                                    .metric = one.metric,
                                    .kind = one.kind,
                                    .profile = one.slice.empty() ? "" : one.profile}));
      note_unit(ids.back(), one.metric);
    }
    for (std::uint32_t& series : block.series) series = ids[series];
    if (!fraction_.empty()) weigh(block);
    if (is_guess_ && fraction_.empty()) weigh_percents(block);
    if (!block.series.empty()) intake_.rows(block.series, block.samples);
    for (const LongBlock::Problem& problem : block.problems) {
      const Where where{problem.where.line + line_ + 1, problem.where.byte + byte_};
      intake_.trouble(problem.trouble, where, problem.text);
    }
    for (std::size_t i = 0; i < block.counts.size(); ++i) {
      if (block.counts[i] > 0) intake_.troubles(static_cast<model::Trouble>(i), block.counts[i]);
    }
    line_ += block.lines;
  }

  void passed(std::size_t bytes, std::uint64_t lines = 0) {
    byte_ += bytes;
    line_ += lines;
  }

  // One value out of range is a bad value; many are another unit.
  Result<> check_unit() const {
    if (above_ <= 20 || above_ * 20 <= weighed_) return Ok{};
    return bad_input(
        fmt::format("line {}: {} is from 0 to 1, and so were its first lines, but {} of {} values "
                    "are above: in percent? Say so in a mapping, with unit = \"percent\" "
                    "(docs/format/csv-mapping.md)",
                    line_, fraction_, above_, weighed_));
  }

  // Of a guess: what was taken for percent, but is never above 1 and often not whole, is none.
  Result<> check_percents() const {
    if (percents_ == 0 || above_one_ > 0 || below_one_ * 20 <= percents_) return Ok{};
    return bad_input(
        fmt::format("utilisation was read as percent, but of {} values none is above 1 and {} "
                    "are not whole; set the unit in a mapping",
                    percents_, below_one_));
  }

 private:
  void weigh_percents(const LongBlock& block) {
    for (const Sample& sample : block.samples) {
      above_one_ += sample.value > 1.5F ? 1U : 0U;
      below_one_ += sample.value > 0 && sample.value < 1 ? 1U : 0U;
    }
    percents_ += block.samples.size();
  }

  void note_unit(SeriesId series, const std::string& name) {
    const UsageMetric* metric = find_usage_metric(name);
    const bool is_fraction = metric && metric->whole <= 1;
    if (is_fraction) fraction_ = name;
    if (is_fraction_.size() <= series) is_fraction_.resize(std::size_t{series} + 1);
    is_fraction_[series] = is_fraction;
  }

  // All values at first, then some: a table in another unit has many of them.
  void weigh(const LongBlock& block) {
    const std::size_t step = weighed_ < 65536 ? 1 : 13;
    for (std::size_t i = 0; i < block.series.size(); i += step) {
      if (!is_fraction_[block.series[i]]) continue;
      ++weighed_;
      // DCGM's numbers for "no value" are far above.
      const float value = block.samples[i].value;
      above_ += value > 1.5F && value < 101 ? 1U : 0U;
    }
  }

  Intake& intake_;
  std::string fraction_;           // A metric from 0 to 1, if there is one.
  std::vector<bool> is_fraction_;  // By SeriesId.
  std::uint64_t weighed_ = 0;
  std::uint64_t above_ = 0;
  bool is_guess_ = false;
  std::uint64_t percents_ = 0;
  std::uint64_t above_one_ = 0;
  std::uint64_t below_one_ = 0;
  std::uint64_t line_ = 0;
  std::uint64_t byte_ = 0;
};

class LongReader final : public Reader {
 public:
  LongReader(Intake& intake, const ReaderOptions& options)
      : teller_{intake},
        threads_{options.threads},
        zone_{zone_named(options.time_zone, options.zone_rules)} {}

  LongReader(Intake& intake, const ReaderOptions& options, LongColumns columns)
      : LongReader(intake, options) {
    given_ = std::move(columns);
    if (given_->is_guess) teller_.guessed();
  }

  Result<> feed(std::string_view bytes) override {
    if (!zone_) return zone_.error();
    if (!columns_) {
      const std::size_t end = bytes.find('\n');
      rest_ += bytes.substr(0, end);
      if (end == bytes.npos) return check_length();
      TRY(read_header());
      bytes.remove_prefix(end + 1);
    }
    TRY(workers_ ? feed_workers(bytes) : feed_here(bytes));
    return teller_.check_unit();
  }

  Result<> finish() override {
    if (!zone_) return zone_.error();
    if (!columns_) TRY(read_header());
    if (workers_) {
      if (!rest_.empty()) workers_->give(std::exchange(rest_, {}));
      while (workers_->pending() > 0) tell_next();
    } else if (!rest_.empty()) {
      parse_here(std::exchange(rest_, {}));
    }
    TRY(teller_.check_percents());
    return teller_.check_unit();
  }

 private:
  Result<> check_length() const {
    if (rest_.size() <= kLongestLine) return Ok{};
    return bad_input("a line is longer than 1 MiB: not a table of samples");
  }

  Result<> read_header() {
    std::string_view header = rest_;
    if (header.ends_with('\r')) header.remove_suffix(1);
    columns_ = given_ ? std::move(given_) : long_columns_of(header);
    if (!columns_) {
      return bad_input(
          "line 1: the header of a long table has a time, a host, a gpu and a metric such as "
          "DCGM_FI_DEV_GPU_UTIL; others need a mapping");
    }
    teller_.passed(rest_.size() + 1, 1);
    rest_.clear();
    if (threads_ > 1) {
      workers_.emplace(threads_ - 1, *columns_, *zone_);
    } else {
      parser_.emplace(*columns_, *zone_);
    }
    return Ok{};
  }

  // Whole lines are parsed where they lie; only one that goes over the end of `bytes` is copied.
  Result<> feed_here(std::string_view bytes) {
    if (!rest_.empty()) {
      const std::size_t end = bytes.find('\n');
      rest_ += bytes.substr(0, end == bytes.npos ? end : end + 1);
      if (end == bytes.npos) return check_length();
      parse_here(rest_);
      rest_.clear();
      bytes.remove_prefix(end + 1);
    }
    const std::size_t last = bytes.rfind('\n');
    const std::size_t whole = last == bytes.npos ? 0 : last + 1;
    rest_ = bytes.substr(whole);
    bytes = bytes.substr(0, whole);
    while (!bytes.empty()) {
      std::size_t size = bytes.size();
      if (size > kPiece) size = bytes.find('\n', kPiece) + 1;
      parse_here(bytes.substr(0, size));
      bytes.remove_prefix(size);
    }
    return check_length();
  }

  void parse_here(std::string_view lines) {
    parsed_.clear();
    parser_->parse(lines, parsed_);
    teller_.tell(parsed_, ids_);
    teller_.passed(lines.size());
  }

  Result<> feed_workers(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t room = rest_.size() < kBlock ? kBlock - rest_.size() : kBlock;
      const std::string_view some = bytes.substr(0, room);
      rest_ += some;
      bytes.remove_prefix(some.size());
      if (rest_.size() < kBlock) break;
      const std::size_t last = rest_.rfind('\n');
      if (last == rest_.npos) {
        TRY(check_length());
        continue;
      }
      std::string next = rest_.substr(last + 1);
      next.reserve(kBlock + kPiece);
      rest_.resize(last + 1);
      workers_->give(std::exchange(rest_, std::move(next)));
      while (workers_->is_full()) tell_next();
    }
    return Ok{};
  }

  void tell_next() {
    workers_->take([&](LongBlock& parsed, std::vector<SeriesId>& ids, std::size_t bytes) {
      teller_.tell(parsed, ids);
      teller_.passed(bytes);
    });
  }

  Teller teller_;
  int threads_;
  Result<Zone> zone_;
  std::optional<LongColumns> given_;  // Known without the header.
  std::optional<LongColumns> columns_;
  std::string rest_;
  std::optional<LongParser> parser_;  // With one thread; else:
  std::optional<LongWorkers> workers_;
  LongBlock parsed_;
  std::vector<SeriesId> ids_;
};

std::string_view first_line(std::string_view head) {
  const std::size_t end = head.find('\n');
  std::string_view header = head.substr(0, end);
  if (header.ends_with('\r')) header.remove_suffix(1);
  return header;
}

// Metrics that no exporter calls so, but that are understood: "gpu.utilization".
bool are_loose_names(const Head& head, std::size_t column) {
  bool loose = false;
  for (const auto& row : head.rows) {
    if (find_usage_metric(row[column])) return false;
    loose = loose || !metric_of(row[column]).empty();
  }
  return loose;
}

// Whether a column that no exporter names so is understood, and tells more than those that are: SM
// activity beside utilisation.
bool has_better(const LongColumns& columns) {
  int known = std::numeric_limits<int>::max();
  int loose = known;
  for (const LongColumn& column : columns.list) {
    const UsageMetric* metric =
        find_usage_metric(column.role == LongRole::kOther ? metric_of(column.name) : column.name);
    if (metric == nullptr) continue;
    int& best = column.role == LongRole::kOther ? loose : known;
    best = std::min(best, metric->rank);
  }
  return loose < known && known < std::numeric_limits<int>::max();
}

// Whether the first rows are written as parse() reads them: times, numbers, and each metric in its
// own unit.
bool is_as_usual(const LongColumns& columns, std::string_view bytes) {
  const auto head = head_of(bytes);
  if (!head || head->delimiter != columns.delimiter || head->rows.empty()) return true;
  const std::vector<Column> seen = columns_of(*head, '.');
  if (seen.size() != columns.list.size()) return true;
  if (has_better(columns)) return false;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i].filled == 0) continue;
    const LongRole role = columns.list[i].role;
    const std::string& time = seen[i].time;
    if (role == LongRole::kTime && time != "auto" && !seen[i].from_zero) {
      // One bad cell among many is a bad line; a pattern, or a doubtful one, is another table, and
      // so is one whose date is elsewhere.
      if (!time.empty() || !seen[i].unclear.empty()) return false;
      if (seen[i].durations == seen[i].filled) return false;
    }
    if (role == LongRole::kMetric && are_loose_names(*head, i)) return false;
    const UsageMetric* metric = find_usage_metric(columns.list[i].name);
    if (role != LongRole::kUsage || !metric) continue;
    if (!seen[i].is_number() && head_decimal(*head) == ',') return false;
    const Share share = share_of(seen[i], metric->name);
    if (!share.unit.empty() && (share.unit == "percent") != (metric->whole > 1)) return false;
  }
  return true;
}

}  // namespace

bool claims_long(std::string_view head) {
  const auto columns = long_columns_of(first_line(head));
  return columns && is_as_usual(*columns, head);
}

Explained explain_long(std::string_view head, const ReaderOptions& options) {
  if (!options.mapping.empty()) return explain_lines(head, options);
  const auto columns = long_columns_of(first_line(head));
  Explained said{Gives::kSamples, "", Appended::kAfterHeader};
  if (!columns) return said;
  constexpr std::string_view kRoles[] = {"",     "time",   "host",    "accelerator",
                                         "uuid", "slice",  "profile", "job",
                                         "kind", "metric", "value",   "metric"};
  static_assert(std::size(kRoles) == static_cast<std::size_t>(LongRole::kUsage) + 1);
  std::vector<std::string> unused;
  said.text = "known by its columns:";
  for (const LongColumn& column : columns->list) {
    if (column.role == LongRole::kOther) {
      unused.push_back(column.name);
      continue;
    }
    said.text += fmt::format("{} {} = \"{}\"", said.text.ends_with(':') ? "" : ",",
                             kRoles[static_cast<std::size_t>(column.role)], column.name);
    const UsageMetric* metric = find_usage_metric(column.name);
    if (metric) said.text += metric->whole > 1 ? " (percent)" : " (0 to 1)";
  }
  if (!unused.empty()) said.text += fmt::format("\nnot used: {}", clip(join(unused, ", "), 400));
  return said;
}

std::unique_ptr<Reader> make_long_by(Intake& intake, const ReaderOptions& options,
                                     const LongColumns& columns) {
  return std::make_unique<LongReader>(intake, options, columns);
}

std::unique_ptr<Reader> make_long(Intake& intake, const ReaderOptions& options) {
  if (!options.mapping.empty()) return make_lines(intake, options);
  return std::make_unique<LongReader>(intake, options);
}

}  // namespace amdahl::fleet::table
