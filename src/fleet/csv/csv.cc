#include "fleet/csv/csv.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/csv/cells.h"
#include "fleet/csv/guess.h"
#include "fleet/csv/head.h"
#include "fleet/csv/layouts.h"
#include "fleet/csv/rows.h"
#include "fleet/csv/sacct_like.h"
#include "fleet/cut_lines.h"
#include "fleet/json_table/json_table.h"

namespace amdahl::fleet::csv {
namespace {

using model::Trouble;

// A record with more lines than this has lost a quote.
constexpr std::size_t kLongestRecord = std::size_t{1} << 20;

// How a table is to be read, and how that was found.
struct Plan {
  Mapping mapping;
  Head head;
  const Layout* layout = nullptr;
  std::optional<Guess> guess{};
};

const Layout* known(const Head& head) {
  const std::vector<std::string_view> header(head.header.begin(), head.header.end());
  if (head.has_header) return layout_of(header);
  if (head.rows.empty()) return nullptr;
  return shape_of({head.rows.front().begin(), head.rows.front().end()});
}

Result<Plan> plan_of(std::string_view bytes, const ReaderOptions& options) {
  Plan plan;
  auto head = head_of(bytes);
  if (!head) {
    return bad_input(
        "is no table of two columns or more; lines of a table have as many cells each");
  }
  plan.head = *std::move(head);
  plan.layout = known(plan.head);
  if (plan.layout != nullptr) {
    plan.mapping = TRY(parse_mapping(plan.layout->mapping).in(plan.layout->name));
    if (plan.mapping.delimiter == '\0') plan.mapping.delimiter = plan.head.delimiter;
    return plan;
  }
  plan.guess = guess(plan.head, options.path, options.host);
  if (!plan.guess->is_complete()) return bad_input(propose(*plan.guess));
  plan.mapping = TRY(parse_mapping(plan.guess->toml).in("by its columns"));
  plan.mapping.is_guess = plan.guess->unit_by_values;
  return plan;
}

// Its name, and what its columns mean.
std::string explain_layout(const Layout& layout) {
  std::string text = fmt::format("known by its columns: {}", layout.name);
  const std::string_view columns = layout.mapping.substr(layout.mapping.find("[columns]"));
  for (const std::string_view line : split(columns.substr(columns.find('\n')), '\n')) {
    if (!line.empty()) text += fmt::format("\n  {}", line);
  }
  return text;
}

Gives gives(Row row) { return row == Row::kSample ? Gives::kSamples : Gives::kJobs; }

class CsvReader final : public Reader {
 public:
  CsvReader(Intake& intake, const ReaderOptions& options)
      : intake_{intake},
        options_{options},
        zone_{zone_named(options.time_zone, options.zone_rules)} {}

  Result<> feed(std::string_view bytes) override {
    if (!zone_) return zone_.error();
    if (mapping_) return lines(bytes);
    held_ += bytes;
    if (options_.mapping.empty() && options_.head.empty() && !telling_part(held_, false)) {
      return Ok{};
    }
    return begin();
  }

  Result<> finish() override {
    if (!zone_) return zone_.error();
    if (!mapping_) TRY(begin());
    TRY(lines_.finish([&](std::string_view line, Where where) { return take(line, where); }));
    if (!open_.empty()) {
      intake_.trouble(Trouble::kTruncated, open_at_, "a quote is open at the end");
    }
    if (!rows_) return Ok{};
    rows_->flush();
    return against(rows_->finish());
  }

 private:
  Result<> lines(std::string_view bytes) {
    TRY(lines_.feed(bytes, [&](std::string_view line, Where where) { return take(line, where); }));
    if (rows_) rows_->flush();
    return Ok{};
  }

  Result<> take(std::string_view line, Where where) {
    if (!open_.empty()) {  // A quoted cell goes over the end of its line.
      open_ += '\n';
      open_ += line;
      if (open_.size() > kLongestRecord) {
        intake_.trouble(Trouble::kBadLine, open_at_, "a quote is not closed");
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
      intake_.trouble(Trouble::kBadLine, where, "has NUL bytes");
      return Ok{};
    }
    if (delimiter_ == '\0') delimiter_ = delimiter_in(line);
    if (!mapping_->comment.empty() && line.starts_with(mapping_->comment)) return Ok{};
    if (cells_.cut(line, delimiter_)) return use(where);
    open_ = line;
    open_at_ = where;
    return Ok{};
  }

  Result<> begin() {
    if (!options_.mapping.empty()) {
      mapping_ = TRY(parse_mapping(options_.mapping));
    } else {
      const std::string_view seen = options_.head.empty() ? held_ : options_.head;
      Plan plan = TRY(plan_of(*telling_part(seen, true), options_));
      mapping_ = std::move(plan.mapping);
      if (plan.guess) toml_ = plan.guess->toml;
    }
    delimiter_ = mapping_->delimiter;
    return lines(std::exchange(held_, {}));
  }

  Result<> use(Where where) {
    if (!rows_) {
      const Zone zone = mapping_->zone ? *mapping_->zone : *zone_;
      std::vector<std::string> header;
      for (std::size_t i = 0; i < cells_.size(); ++i) {
        header.push_back(mapping_->header ? std::string(cells_[i]) : std::to_string(i + 1));
      }
      rows_.emplace(intake_, *mapping_, zone, options_);
      TRY(rows_->begin(std::move(header)));
      if (mapping_->header) return Ok{};
    }
    return against(rows_->take(cells_, where));
  }

  // What speaks against a guess, with the mapping to put right.
  Result<> against(Result<> done) const {
    if (done || toml_.empty()) return done;
    return bad_input(
        fmt::format("{} (unit = \"percent\" or \"fraction\"): save this as FILE.toml, put "
                    "it right, and add: --map FILE.toml\n\n{}",
                    done.error().text, toml_));
  }

  Intake& intake_;
  ReaderOptions options_;
  Result<Zone> zone_;
  LineCutter lines_;
  Cells cells_;
  std::optional<Mapping> mapping_;
  std::optional<Rows> rows_;
  char delimiter_ = '\0';  // 0: as the first line has it.
  std::string toml_;       // Of a guess.
  std::string held_;       // Until it is known what this is.
  std::string open_;
  Where open_at_;
};

}  // namespace

// Without a header: whether there are as many columns, and a time where one is to be.
static bool fits_by_number(const Mapping& mapping, const Cells& cells) {
  const auto has = [&](std::string_view column) {
    return column.empty() || to_number<std::size_t>(column).value_or(0) <= cells.size();
  };
  for (const Field field : {Field::kTime, Field::kStart}) {
    const From& from = mapping[field];
    const auto at = to_number<std::size_t>(from.column);
    if (from.what != From::What::kColumn || !at || *at == 0 || *at > cells.size()) continue;
    if (from.time.read(cells[*at - 1], Zone()).is == Instant::Is::kBad) return false;
  }
  return cells.size() > 1 &&
         std::ranges::all_of(mapping.from, [&](const From& from) { return has(from.column); }) &&
         std::ranges::all_of(mapping.values, [&](const ValueColumn& value) {
           return value.column.find('*') != value.column.npos || has(value.column);
         });
}

bool fits(std::string_view head, std::string_view mapping) {
  const auto parsed = parse_mapping(mapping);
  if (!parsed) return true;
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  while (!parsed->comment.empty() && head.starts_with(parsed->comment)) {
    const std::size_t end = head.find('\n');
    head.remove_prefix(end == head.npos ? head.size() : end + 1);
  }
  std::string_view line = head.substr(0, head.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  Cells cells;
  cells.cut(line, parsed->delimiter != '\0' ? parsed->delimiter : delimiter_in(line));
  if (!parsed->header) return fits_by_number(*parsed, cells);
  const auto has = [&](std::string_view column) {
    return column.empty() || std::ranges::find(cells.all(), column) != cells.all().end();
  };
  const auto has_like = [&](const ValueColumn& value) {
    const std::size_t star = value.column.find('*');
    const std::string_view before = std::string_view(value.column).substr(0, star);
    return star == std::string::npos ? has(value.column)
                                     : std::ranges::any_of(cells.all(), [&](std::string_view cell) {
                                         return cell.starts_with(before);
                                       });
  };
  return std::ranges::all_of(
             parsed->from, [&](const From& from) { return has(from.column) && has(from.times); }) &&
         std::ranges::all_of(parsed->where,
                             [&](const Filter& filter) { return has(filter.column); }) &&
         std::ranges::all_of(parsed->values, has_like);
}

Fit fit(std::string_view head, std::string_view mapping) {
  if (json_table::is_table(head)) return Fit::kNone;
  return fits(head, mapping) ? Fit::kWhole : Fit::kSome;
}

bool claims(std::string_view bytes) {
  const auto head = head_of(bytes);
  return head && known(*head) != nullptr;
}

Result<bool> guesses(std::string_view bytes, const ReaderOptions& options) {
  const std::string_view part = *telling_part(bytes, true);
  const auto head = head_of(part);
  // A line alone is no table yet, and words with blanks between are mostly none.
  if (!head || (head->rows.empty() && head->header.size() < 3)) return false;
  if (const std::string fields = sacct_fields(*head); !fields.empty()) {
    return bad_input(
        fmt::format("looks like what sacct prints without a header; add the -o list that it was "
                    "made with, such as: --fields '{}' (a ? for what is not needed; NodeList, "
                    "JobName, User and Partition are of use)",
                    fields));
  }
  const bool words = head->delimiter == ' ';
  if (words && head->rows.empty()) return false;
  const auto plan = plan_of(part, options);
  if (!plan && !words) return plan.error();
  return static_cast<bool>(plan);
}

// Lines stand alone where the first one is the header, or the first row.
static Appended appended(std::string_view bytes, const Mapping& mapping) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  if (trim(line).empty() || is_ruler(line) || is_hint_for_excel(line)) return Appended::kAfterAll;
  return mapping.header ? Appended::kAfterHeader : Appended::kAlone;
}

Explained explain(std::string_view bytes, const ReaderOptions& options) {
  if (!options.mapping.empty()) {
    const auto mapping = parse_mapping(options.mapping);
    if (!mapping) return {};  // Reading it will say why.
    return {gives(mapping->row), "by the mapping that was given", appended(bytes, *mapping)};
  }
  const auto plan = plan_of(*telling_part(bytes, true), options);
  if (!plan) return {};
  const Mapping& mapping = plan->mapping;
  return {gives(mapping.row),
          plan->guess ? explain(*plan->guess, plan->head) : explain_layout(*plan->layout),
          appended(bytes, mapping)};
}

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options) {
  return std::make_unique<CsvReader>(intake, options);
}

}  // namespace amdahl::fleet::csv
