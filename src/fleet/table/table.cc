#include "fleet/table/table.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/cut_lines.h"
#include "fleet/table/cells.h"
#include "fleet/table/json_rows.h"
#include "fleet/table/long_columns.h"
#include "fleet/table/plan.h"
#include "fleet/table/rows.h"
#include "fleet/table/sacct_like.h"

namespace amdahl::fleet::table {
namespace {

using model::Trouble;

// A record with more lines than this has lost a quote.
constexpr std::size_t kLongestRecord = std::size_t{1} << 20;

Gives gives(Row row) { return row == Row::kSample ? Gives::kSamples : Gives::kJobs; }

// What all tables have in common: records into what the plan says they are.
class PlannedRows {
 public:
  PlannedRows(Intake& intake, const ReaderOptions& options)
      : intake_{intake},
        options_{options},
        zone_{zone_named(options.time_zone, options.zone_rules)} {}

  const ReaderOptions& options() const { return options_; }
  Result<Zone> zone() const { return zone_; }
  bool is_planned() const { return mapping_.has_value(); }
  const Mapping& mapping() const { return *mapping_; }
  void complain(Trouble trouble, Where where, std::string_view text) const {
    intake_.trouble(trouble, where, text);
  }

  // `head` is asked for only where no mapping was given.
  template <class MakeHead>
  Result<> plan(MakeHead head) {
    if (!zone_) return zone_.error();
    if (!options_.mapping.empty()) {
      mapping_ = TRY(parse_mapping(options_.mapping));
      return Ok{};
    }
    Plan plan = TRY(plan_of(head(), options_));
    mapping_ = std::move(plan.mapping);
    head_ = std::move(plan.head);
    if (plan.guess) toml_ = plan.guess->toml;
    return Ok{};
  }

  // A reader for long tables of samples, if this is one and its first line is the header.
  std::unique_ptr<Reader> long_reader(std::string_view first_line) const {
    const auto columns = long_columns_by(*mapping_, head_, *zone_);
    if (!columns) return nullptr;
    if (first_line.starts_with("\xEF\xBB\xBF")) first_line.remove_prefix(3);
    if (first_line.ends_with('\r')) first_line.remove_suffix(1);
    Cells cells;
    if (!cells.cut(first_line, columns->delimiter)) return nullptr;
    if (!std::ranges::equal(cells.all(), head_.header)) return nullptr;
    return make_long_by(intake_, options_, *columns);
  }

  bool has_columns() const { return rows_.has_value(); }
  Result<> columns(std::vector<std::string> names) {
    rows_.emplace(intake_, *mapping_, mapping_->zone ? *mapping_->zone : *zone_, options_);
    return rows_->begin(std::move(names));
  }
  Result<> take(const Cells& cells, Where where) { return with_mapping(rows_->take(cells, where)); }
  void flush() {
    if (rows_) rows_->flush();
  }
  Result<> finish() {
    if (!rows_) return Ok{};
    rows_->flush();
    return with_mapping(rows_->finish());
  }

  // What speaks against a guess, with the mapping to put right.
  Result<> with_mapping(Result<> done) const {
    if (done || toml_.empty()) return done;
    return bad_input(
        fmt::format("{} (unit = \"percent\" or \"fraction\"): save this as FILE.toml, "
                    "correct it, and add: --map FILE.toml\n\n{}",
                    done.error().text, toml_));
  }

 private:
  Intake& intake_;
  ReaderOptions options_;
  Result<Zone> zone_;
  std::optional<Mapping> mapping_;
  std::optional<Rows> rows_;
  std::string toml_;  // Of a guess.
  Head head_;         // That it is from.
};

// Lines cut into cells.
class LinesReader final : public Reader {
 public:
  LinesReader(Intake& intake, const ReaderOptions& options) : rows_{intake, options} {}

  Result<> feed(std::string_view bytes) override {
    if (long_) return rows_.with_mapping(long_->feed(bytes));
    if (rows_.is_planned()) return lines(bytes);
    held_ += bytes;
    const ReaderOptions& options = rows_.options();
    if (options.mapping.empty() && options.head.empty() && !telling_part(held_, false)) {
      return Ok{};
    }
    return begin();
  }

  Result<> finish() override {
    if (!rows_.is_planned()) TRY(begin());
    if (long_) return rows_.with_mapping(long_->finish());
    TRY(lines_.finish([&](std::string_view line, Where where) { return take(line, where); }));
    if (!open_.empty()) {
      rows_.complain(Trouble::kTruncated, open_at_, "a quote is open at the end");
    }
    return rows_.finish();
  }

 private:
  Result<> begin() {
    TRY(rows_.plan([&] {
      const std::string& head = rows_.options().head;
      return head_of(*telling_part(head.empty() ? held_ : head, true));
    }));
    const std::string_view first = rows_.options().head.empty() ? held_ : rows_.options().head;
    long_ = rows_.long_reader(first.substr(0, first.find('\n')));
    if (long_) return rows_.with_mapping(long_->feed(std::exchange(held_, {})));
    delimiter_ = rows_.mapping().delimiter;
    return lines(std::exchange(held_, {}));
  }

  Result<> lines(std::string_view bytes) {
    TRY(lines_.feed(bytes, [&](std::string_view line, Where where) { return take(line, where); }));
    rows_.flush();
    return Ok{};
  }

  Result<> take(std::string_view line, Where where) {
    if (!open_.empty()) {  // A quoted cell goes over the end of its line.
      open_ += '\n';
      open_ += line;
      if (open_.size() > kLongestRecord) {
        rows_.complain(Trouble::kBadLine, open_at_, "a quote is not closed");
        open_.clear();
        return Ok{};
      }
      const std::string record = open_;
      if (!cells_.cut(record, delimiter_)) return Ok{};
      open_.clear();
      return use(open_at_);
    }
    if (trim(line).empty() || is_ruler(line)) return Ok{};
    if (where.line == 1 && is_hint_for_excel(line)) return Ok{};
    if (line.find('\0') != line.npos) {
      rows_.complain(Trouble::kBadLine, where, "has NUL bytes");
      return Ok{};
    }
    if (delimiter_ == '\0') delimiter_ = delimiter_in(line);
    const std::string& comment = rows_.mapping().comment;
    if (!comment.empty() && line.starts_with(comment)) return Ok{};
    if (cells_.cut(line, delimiter_)) return use(where);
    open_ = line;
    open_at_ = where;
    return Ok{};
  }

  Result<> use(Where where) {
    if (!rows_.has_columns()) {
      const bool header = rows_.mapping().header;
      std::vector<std::string> names;
      for (std::size_t i = 0; i < cells_.size(); ++i) {
        names.push_back(header ? std::string(cells_[i]) : std::to_string(i + 1));
      }
      TRY(rows_.columns(std::move(names)));
      if (header) return Ok{};
    }
    return rows_.take(cells_, where);
  }

  PlannedRows rows_;
  std::unique_ptr<Reader> long_;  // Reads all, where the table is a long one.
  LineCutter lines_;
  Cells cells_;
  char delimiter_ = '\0';  // 0: as the first line has it.
  std::string held_;       // Until it is known what this is.
  std::string open_;
  Where open_at_;
};

// Objects: a row each, or one for each accelerator that they list.
class ObjectsReader final : public Reader, private JsonRows::Sink {
 public:
  ObjectsReader(Intake& intake, const ReaderOptions& options)
      : rows_{intake, options}, objects_{*this} {}

  Result<> feed(std::string_view bytes) override {
    TRY(objects_.feed(bytes));
    rows_.flush();
    return Ok{};
  }
  Result<> finish() override {
    TRY(objects_.finish());
    return rows_.finish();
  }

 private:
  Result<> begin(const Head& head) override {
    TRY(rows_.plan([&] { return head.header.size() < 2 ? std::nullopt : std::optional(head); }));
    return rows_.columns(head.header);
  }
  Result<> row(const Cells& cells, Where where) override { return rows_.take(cells, where); }
  void trouble(Trouble trouble, Where where, std::string_view text) override {
    rows_.complain(trouble, where, text);
  }

  PlannedRows rows_;
  JsonRows objects_;
};

// Lines stand alone where the first one is the header, or the first row.
Appended appended(std::string_view bytes, const Mapping& mapping) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  if (trim(line).empty() || is_ruler(line) || is_hint_for_excel(line)) return Appended::kAfterAll;
  return mapping.header ? Appended::kAfterHeader : Appended::kAlone;
}

// The names in the first line, or its cells.
std::vector<std::string_view> first_cells(std::string_view head, const Mapping& mapping,
                                          Cells& cells) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  while (!mapping.comment.empty() && head.starts_with(mapping.comment)) {
    const std::size_t end = head.find('\n');
    head.remove_prefix(end == head.npos ? head.size() : end + 1);
  }
  std::string_view line = head.substr(0, head.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  cells.cut(line, mapping.delimiter != '\0' ? mapping.delimiter : delimiter_in(line));
  return cells.all();
}

// Nothing where a mapping cannot be read: reading the table will say why.
std::optional<Plan> plan_for(std::optional<Head> head, const ReaderOptions& options) {
  if (options.mapping.empty()) {
    auto plan = plan_of(std::move(head), options);
    return plan ? std::optional(*std::move(plan)) : std::nullopt;
  }
  auto mapping = parse_mapping(options.mapping);
  if (!mapping) return std::nullopt;
  return Plan{.mapping = *std::move(mapping)};
}

}  // namespace

bool claims_layout(std::string_view bytes) {
  const auto head = head_of(bytes);
  return head && known_layout(*head) != nullptr;
}

bool claims_objects(std::string_view) { return false; }

Result<bool> guesses_lines(std::string_view bytes, const ReaderOptions& options) {
  auto head = head_of(*telling_part(bytes, true));
  // A line alone is no table yet, and words with blanks between are mostly none.
  if (!head || (head->rows.empty() && head->header.size() < 3)) return false;
  if (const std::string fields = sacct_fields(*head); !fields.empty()) {
    return bad_input(fmt::format(
        "looks like sacct output without a header; add the -o list it was "
        "made with, for example: --fields '{}' (? for columns you do not need; NodeList, "
        "JobName, User and Partition are useful)",
        fields));
  }
  const bool words = head->delimiter == ' ';
  if (words && head->rows.empty()) return false;
  const auto plan = plan_of(std::move(head), options);
  if (!plan && !words) return plan.error();
  return static_cast<bool>(plan);
}

Result<bool> guesses_objects(std::string_view bytes, const ReaderOptions& options) {
  auto head = head_of_objects(bytes);
  if (!head || (head->rows.empty() && head->header.size() < 3)) return false;
  if (head->header.size() < 2) return false;
  if (const auto plan = plan_of(std::move(head), options); !plan) {
    return bad_input(fmt::format("is JSON, read as a table of its keys; it {}", plan.error().text));
  }
  return true;
}

Fit fit_lines(std::string_view head, std::string_view mapping) {
  if (head_of_objects(head)) return Fit::kNone;
  const auto parsed = parse_mapping(mapping);
  Cells cells;
  return !parsed || fits(*parsed, first_cells(head, *parsed, cells)) ? Fit::kWhole : Fit::kSome;
}

Fit fit_objects(std::string_view bytes, std::string_view mapping) {
  const auto head = head_of_objects(bytes);
  if (!head) return Fit::kNone;
  const auto parsed = parse_mapping(mapping);
  const std::vector<std::string_view> columns(head->header.begin(), head->header.end());
  return !parsed || fits(*parsed, columns) ? Fit::kWhole : Fit::kSome;
}

Explained explain_lines(std::string_view bytes, const ReaderOptions& options) {
  const auto plan = plan_for(head_of(*telling_part(bytes, true)), options);
  if (!plan) return {};
  return {gives(plan->mapping.row), explain(*plan), appended(bytes, plan->mapping)};
}

Explained explain_objects(std::string_view bytes, const ReaderOptions& options) {
  const auto plan = plan_for(head_of_objects(bytes), options);
  if (!plan) return {};
  return {gives(plan->mapping.row),
          "JSON objects, read as a table of their keys\n" + explain(*plan), Appended::kAfterAll};
}

std::unique_ptr<Reader> make_lines(Intake& intake, const ReaderOptions& options) {
  return std::make_unique<LinesReader>(intake, options);
}

std::unique_ptr<Reader> make_objects(Intake& intake, const ReaderOptions& options) {
  return std::make_unique<ObjectsReader>(intake, options);
}

}  // namespace amdahl::fleet::table
