#include "fleet/csv/csv.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "fleet/csv/cells.h"
#include "fleet/csv/layouts.h"
#include "fleet/csv/rows.h"
#include "fleet/cut_lines.h"

namespace amdahl::fleet::csv {
namespace {

using model::Trouble;

// A record with more lines than this has lost a quote.
constexpr std::size_t kLongestRecord = std::size_t{1} << 20;

// The delimiter that a line has most of.
char delimiter_in(std::string_view line) {
  char best = ',';
  std::ptrdiff_t most = 0;
  for (const char candidate : {',', '\t', ';', '|'}) {
    const auto count = std::ranges::count(line, candidate);
    if (count <= most) continue;
    best = candidate;
    most = count;
  }
  return best;
}

class CsvReader final : public Reader {
 public:
  CsvReader(Intake& intake, const ReaderOptions& options)
      : intake_{intake},
        options_{options},
        zone_{zone_named(options.time_zone, options.zone_rules)} {}

  Result<> feed(std::string_view bytes) override {
    if (!zone_) return zone_.error();
    TRY(lines_.feed(bytes, [&](std::string_view line, Where where) { return take(line, where); }));
    if (rows_) rows_->flush();
    return Ok{};
  }

  Result<> finish() override {
    if (!zone_) return zone_.error();
    TRY(lines_.finish([&](std::string_view line, Where where) { return take(line, where); }));
    if (!open_.empty()) {
      intake_.trouble(Trouble::kTruncated, open_at_, "a quote is open at the end");
    }
    if (rows_) rows_->flush();
    return Ok{};
  }

 private:
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
    if (trim(line).empty()) return Ok{};
    if (!mapping_) TRY(begin(line));
    if (!mapping_->comment.empty() && line.starts_with(mapping_->comment)) return Ok{};
    if (cells_.cut(line, delimiter_)) return use(where);
    open_ = line;
    open_at_ = where;
    return Ok{};
  }

  Result<> begin(std::string_view line) {
    delimiter_ = delimiter_in(line);
    if (!options_.mapping.empty()) {
      mapping_ = TRY(parse_mapping(options_.mapping));
    } else {
      cells_.cut(line, delimiter_);
      const Layout* layout = layout_of(cells_.all());
      if (layout == nullptr) {
        return bad_input(
            "its columns are none that are known; say what they mean in a mapping "
            "(docs/format/csv-mapping.md): --map FILE");
      }
      mapping_ = TRY(parse_mapping(layout->mapping).in(layout->name));
    }
    if (mapping_->delimiter != '\0') delimiter_ = mapping_->delimiter;
    return Ok{};
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
    rows_->take(cells_, where);
    return Ok{};
  }

  Intake& intake_;
  ReaderOptions options_;
  Result<Zone> zone_;
  LineCutter lines_;
  Cells cells_;
  std::optional<Mapping> mapping_;
  std::optional<Rows> rows_;
  char delimiter_ = ',';
  std::string open_;
  Where open_at_;
};

}  // namespace

bool claims(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::size_t end = head.find('\n');
  std::string_view line = head.substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.size() > 4000 || line.starts_with('{')) return false;
  Cells cells;
  return cells.cut(line, delimiter_in(line)) && layout_of(cells.all()) != nullptr;
}

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options) {
  return std::make_unique<CsvReader>(intake, options);
}

}  // namespace amdahl::fleet::csv
