#include "fleet/json_table/json_table.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/text.h"
#include "fleet/csv/csv.h"
#include "fleet/cut_lines.h"
#include "fleet/json_items.h"
#include "fleet/pass_on.h"

namespace amdahl::fleet::json_table {
namespace {

using simdjson::dom::element;

constexpr std::size_t kEnough = 4096;  // Bytes whose objects make the header.
constexpr std::size_t kMostKeys = 1000;
constexpr std::size_t kMostBlanks = std::size_t{1} << 20;
constexpr int kDeepest = 4;
constexpr std::string_view kBefore = "{\"rows\":";  // A list is cut as one of an object.

using Row = std::vector<std::pair<std::string, std::string>>;

std::string scalar(element value) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return std::string(text);
  std::int64_t whole = 0;
  if (value.get(whole) == simdjson::SUCCESS) return std::to_string(whole);
  double real = 0;
  if (value.get(real) == simdjson::SUCCESS) return fmt::format("{}", real);
  bool flag = false;
  if (value.get(flag) == simdjson::SUCCESS) return flag ? "true" : "false";
  return {};
}

void flatten(element from, const std::string& prefix, int depth, Row& row) {
  simdjson::dom::object object;
  if (from.get(object) != simdjson::SUCCESS || depth > kDeepest) return;
  for (const auto& [key, value] : object) {
    if (row.size() >= kMostKeys) return;
    const std::string name = prefix + std::string(key);
    simdjson::dom::array list;
    if (value.is_object()) {
      flatten(value, name + ".", depth + 1, row);
    } else if (value.get(list) == simdjson::SUCCESS) {
      std::vector<std::string> items;
      for (const element item : list) items.push_back(scalar(item));
      row.emplace_back(name, join(items, ","));
    } else {
      row.emplace_back(name, scalar(value));
    }
  }
}

void append_cell(std::string_view cell, std::string& out) {
  if (cell.find_first_of(",\"\n\r|;\t") == cell.npos) {
    out += cell;
    return;
  }
  out += '"';
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c == '\n' || c == '\r' ? ' ' : c;  // A record stays one line.
  }
  out += '"';
}

std::string line_of(const std::vector<std::string>& keys, const Row& row) {
  std::string line;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i > 0) line += ',';
    const auto found =
        std::ranges::find_if(row, [&](const auto& pair) { return pair.first == keys[i]; });
    if (found != row.end()) append_cell(found->second, line);
  }
  return line + "\n";
}

// Objects into lines of a table, given to `use`. The first of them make its header.
class Converter {
 public:
  using Use = std::function<Result<>(std::string_view lines)>;

  Converter(Intake* intake, Use use)
      : intake_{intake},
        use_{std::move(use)},
        items_{[this](std::string_view, std::string_view item, std::uint64_t byte) {
          if (auto done = object(item, {.line = 0, .byte = byte - kBefore.size()}); !done) {
            failed_ = done.error();
          }
        }} {}

  Result<> feed(std::string_view bytes) {
    if (!begun_) {
      first_ += bytes;
      const std::size_t begin = first_.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
      if (begin == first_.npos) {
        return first_.size() < kMostBlanks ? Result<>(Ok{}) : bad_input("is blank");
      }
      begun_ = true;
      is_list_ = first_[begin] == '[';
      if (is_list_) {
        first_.erase(0, begin);
        TRY(items_.feed(kBefore));
      }
      return feed(std::exchange(first_, {}));
    }
    if (is_list_) {
      TRY(items_.feed(bytes));
      if (failed_) return *failed_;
      return Ok{};
    }
    return lines_.feed(bytes, [&](std::string_view line, Where where) {
      return trim(line).empty() ? Result<>(Ok{}) : object(line, where);
    });
  }

  Result<> finish() {
    if (is_list_) {
      TRY(items_.feed("}"));
      if (failed_) return *failed_;
      if (!items_.whole()) complain(model::Trouble::kTruncated, {}, "the list is not closed");
    } else {
      TRY(lines_.finish([&](std::string_view line, Where where) {
        return trim(line).empty() ? Result<>(Ok{}) : object(line, where);
      }));
    }
    return header_done_ ? Result<>(Ok{}) : begin();
  }

 private:
  void complain(model::Trouble trouble, Where where, std::string_view text) {
    if (intake_ != nullptr) intake_->trouble(trouble, where, text);
  }

  Result<> object(std::string_view text, Where where) {
    element parsed;
    const simdjson::padded_string copy(text);
    if (parser_.parse(copy).get(parsed) != simdjson::SUCCESS || !parsed.is_object()) {
      complain(model::Trouble::kBadLine, where, "is no JSON object");
      return Ok{};
    }
    Row row;
    flatten(parsed, "", 0, row);
    if (header_done_) return use_(line_of(keys_, row));
    for (const auto& [key, value] : row) {
      if (keys_.size() < kMostKeys && std::ranges::find(keys_, key) == keys_.end()) {
        keys_.push_back(key);
      }
    }
    seen_ += text.size();
    waiting_.push_back(std::move(row));
    return seen_ < kEnough ? Result<>(Ok{}) : begin();
  }

  Result<> begin() {
    header_done_ = true;
    if (keys_.empty()) return bad_input("has no JSON object with a key");
    std::string lines;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (i > 0) lines += ',';
      append_cell(keys_[i], lines);
    }
    lines += '\n';
    for (const Row& row : std::exchange(waiting_, {})) lines += line_of(keys_, row);
    return use_(lines);
  }

  Intake* intake_;
  Use use_;
  simdjson::dom::parser parser_;
  LineCutter lines_;
  JsonItems items_;
  std::optional<Error> failed_;
  std::string first_;
  bool begun_ = false;
  bool is_list_ = false;
  std::vector<std::string> keys_;
  std::vector<Row> waiting_;
  std::size_t seen_ = 0;
  bool header_done_ = false;
};

// The table has a header before the first object.
class Numbered final : public PassOn {
 public:
  using PassOn::PassOn;
  void job(const model::JobDraft& job, Where where) override { next_.job(job, back(where)); }
  void trouble(model::Trouble trouble, Where where, std::string_view text) override {
    next_.trouble(trouble, back(where), text);
  }

 private:
  static Where back(Where where) { return {where.line > 0 ? where.line - 1 : 0, 0}; }
};

ReaderOptions for_table(const ReaderOptions& options) {
  ReaderOptions table = options;
  table.head.clear();
  return table;
}

class JsonTableReader final : public Reader {
 public:
  JsonTableReader(Intake& intake, const ReaderOptions& options)
      : numbered_{intake},
        table_{csv::make(numbered_, for_table(options))},
        converter_{&intake, [this](std::string_view lines) { return table_->feed(lines); }} {}

  Result<> feed(std::string_view bytes) override { return converter_.feed(bytes); }
  Result<> finish() override {
    TRY(converter_.finish());
    return table_->finish();
  }

 private:
  Numbered numbered_;
  std::unique_ptr<Reader> table_;
  Converter converter_;
};

// The table of the whole objects in `head`; empty if it is none.
std::string table_of(std::string_view head) {
  const std::string_view text = trim(head);
  const bool is_list = text.starts_with('[') && trim(text.substr(1)).starts_with('{');
  const std::size_t end = text.find('\n');
  const bool is_lines = text.starts_with('{') && end != text.npos &&
                        trim(text.substr(0, end)).ends_with('}') &&
                        trim(text.substr(end)).starts_with('{');
  if (!is_list && !is_lines) return {};
  std::string table;
  Converter converter(nullptr, [&](std::string_view lines) -> Result<> {
    table += lines;
    return Ok{};
  });
  // The last line or object may be cut.
  const std::size_t last = is_lines ? text.rfind('\n') : text.npos;
  if (!converter.feed(text.substr(0, last)) || !converter.finish()) return {};
  return table;
}

}  // namespace

bool claims(std::string_view) { return false; }

Result<bool> guesses(std::string_view head, const ReaderOptions& options) {
  const std::string table = table_of(head);
  if (table.empty()) return false;
  auto can = csv::guesses(table, for_table(options));
  if (can) return can;
  return bad_input(fmt::format("is JSON, read as a table of its keys; it {}", can.error().text));
}

bool is_table(std::string_view head) { return !table_of(head).empty(); }

bool fits(std::string_view head, std::string_view mapping) {
  return csv::fits(table_of(head), mapping);
}

Explained explain(std::string_view head, const ReaderOptions& options) {
  Explained said = csv::explain(table_of(head), for_table(options));
  if (!said.text.empty()) said.text = "JSON objects, read as a table of their keys\n" + said.text;
  return said;
}

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options) {
  return std::make_unique<JsonTableReader>(intake, options);
}

}  // namespace amdahl::fleet::json_table
