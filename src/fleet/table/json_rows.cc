#include "fleet/table/json_rows.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <simdjson.h>

#include "base/text.h"
#include "fleet/cut_lines.h"
#include "fleet/json_items.h"
#include "fleet/source.h"
#include "fleet/table/synonyms.h"

namespace amdahl::fleet::table {
namespace {

using simdjson::dom::element;

constexpr std::size_t kHeadObjects = std::size_t{16} << 10;  // Bytes whose objects make the header.
constexpr std::size_t kMostKeys = 1000;
constexpr std::size_t kMostBlanks = std::size_t{1} << 20;
constexpr int kDeepest = 4;
constexpr std::size_t kLargeDocument = std::size_t{1} << 20;
constexpr std::string_view kBefore = "{\"rows\":";  // A list is cut as one of an object.

using Pairs = std::vector<std::pair<std::string, std::string>>;  // Key and value.

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

void put(Pairs& row, std::string name, std::string value) {
  if (row.size() < kMostKeys) row.emplace_back(std::move(name), std::move(value));
}

void flatten(element from, const std::string& prefix, int depth, Pairs& row);

// Of objects in a list (the containers of a pod) numbers add up, and of words the first counts.
void flatten_list(const simdjson::dom::array& list, const std::string& name, int depth,
                  Pairs& row) {
  Pairs all;
  for (const element item : list) {
    Pairs one;
    flatten(item, name + ".", depth, one);
    for (auto& [key, value] : one) {
      const auto same = std::ranges::find(all, key, &Pairs::value_type::first);
      if (same == all.end()) {
        put(all, key, std::move(value));
        continue;
      }
      const auto sum = to_number<double>(same->second);
      const auto more = to_number<double>(value);
      if (same->second.empty()) same->second = std::move(value);
      if (sum && more) same->second = fmt::format("{}", *sum + *more);
    }
  }
  for (auto& [key, value] : all) put(row, std::move(key), std::move(value));
}

void flatten(element from, const std::string& prefix, int depth, Pairs& row) {
  simdjson::dom::object object;
  if (from.get(object) != simdjson::SUCCESS || depth > kDeepest) return;
  for (const auto& [key, value] : object) {
    const std::string name = prefix + std::string(key);
    simdjson::dom::array list;
    if (value.is_object()) {
      flatten(value, name + ".", depth + 1, row);
    } else if (value.get(list) == simdjson::SUCCESS) {
      if (list.size() > 0 && list.at(0).is_object()) {
        flatten_list(list, name, depth + 1, row);
        continue;
      }
      std::vector<std::string> items;
      for (const element item : list) items.push_back(scalar(item));
      put(row, name, join(items, ","));
    } else {
      put(row, name, scalar(value));
    }
  }
}

// The list of accelerators in an object ({"hostname": ..., "gpus": [{"index": 0, ...}]}): its
// objects say how busy each was. Nothing if there is none.
std::optional<simdjson::dom::array> accelerators_in(element from) {
  simdjson::dom::object object;
  if (from.get(object) != simdjson::SUCCESS) return std::nullopt;
  for (const auto& [key, value] : object) {
    simdjson::dom::array list;
    simdjson::dom::object first;
    if (value.get(list) != simdjson::SUCCESS || list.size() == 0) continue;
    if (list.at(0).get(first) != simdjson::SUCCESS) continue;
    for (const auto& [name, inner] : first) {
      if (inner.is_number() && !metric_of(name).empty()) return list;
    }
  }
  return std::nullopt;
}

// One, or one for each accelerator, with what is said of all of them.
std::vector<Pairs> rows_of(element from) {
  std::vector<Pairs> rows(1);
  const auto list = accelerators_in(from);
  if (!list) {
    flatten(from, "", 0, rows.front());
    return rows;
  }
  Pairs common;
  for (const auto& [key, value] : simdjson::dom::object(from)) {
    if (!value.is_array() && !value.is_object()) put(common, std::string(key), scalar(value));
  }
  rows.clear();
  for (const element each : *list) {
    Pairs row;
    flatten(each, "", 1, row);
    for (const auto& [key, value] : common) {
      if (std::ranges::find(row, key, &Pairs::value_type::first) == row.end()) put(row, key, value);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// What a cell holds: one line of text.
std::string cell_of(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return std::string(trim(text));
}

}  // namespace

class JsonRows::Impl {
 public:
  explicit Impl(Sink& sink)
      : sink_{sink},
        items_{[this](std::string_view key, std::string_view item, std::uint64_t byte) {
          take(key, item, byte);
        }} {}

  Result<> feed(std::string_view bytes) {
    if (!begun_) {
      first_ += bytes;
      const std::size_t begin = first_.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
      if (begin == first_.npos) {
        return first_.size() < kMostBlanks ? Result<>(Ok{}) : bad_input("is blank");
      }
      const auto form = form_of(std::string_view(first_).substr(begin), false);
      if (!form) return Ok{};
      form_ = *form;
      begun_ = true;
      if (form_ == Form::kList) {
        first_.erase(0, begin);
        TRY(items_.feed(kBefore));
      }
      return feed(std::exchange(first_, {}));
    }
    if (form_ == Form::kDocuments && !is_streamed_) return documents(bytes);
    if (form_ != Form::kLines) {
      TRY(items_.feed(bytes));
      if (failed_) return *failed_;
      return Ok{};
    }
    return lines_.feed(bytes, [&](std::string_view line, Where where) {
      return trim(line).empty() ? Result<>(Ok{}) : object(line, where);
    });
  }

  Result<> finish() {
    if (!begun_ && !trim(first_).empty()) {  // All of it is one line.
      form_ = *form_of(trim(first_), true);
      begun_ = true;
      TRY(feed(std::exchange(first_, {})));
    }
    const bool all_whole = form_ == Form::kDocuments && !is_streamed_ && document_.empty();
    if (form_ != Form::kLines && !all_whole) {
      if (form_ == Form::kList) TRY(items_.feed("}"));
      if (form_ == Form::kDocuments && !is_streamed_) TRY(stream());
      if (failed_) return *failed_;
      if (!items_.whole()) sink_.trouble(model::Trouble::kTruncated, {}, "the list is not closed");
    } else if (form_ == Form::kLines) {
      TRY(lines_.finish([&](std::string_view line, Where where) {
        return trim(line).empty() ? Result<>(Ok{}) : object(line, where);
      }));
    }
    return header_done_ ? Result<>(Ok{}) : begin();
  }

 private:
  // Objects a line, a list of them, or objects of several lines each, one behind the other.
  enum class Form : std::uint8_t { kLines, kList, kDocuments };

  // What text that does not begin with a blank is; nothing if more of it is needed.
  static std::optional<Form> form_of(std::string_view text, bool is_all) {
    if (text.starts_with('[')) return Form::kList;
    text = text.substr(0, kMostHead);
    const bool is_enough = is_all || text.size() == kMostHead;
    const std::size_t end = text.find('\n');
    const bool is_object = end != text.npos && trim(text.substr(0, end)).ends_with('}');
    if (is_object && !trim(text.substr(end)).empty()) return Form::kLines;
    if (!is_enough && (end == text.npos || is_object)) return std::nullopt;
    return Form::kDocuments;
  }

  // Each is taken when it is whole; one that is large is not kept, but its list read as it comes.
  Result<> documents(std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const char c = bytes[i];
      if (document_.empty() && std::string_view(" \t\r\n").find(c) != std::string_view::npos) {
        continue;
      }
      document_ += c;
      if (is_escaped_) {
        is_escaped_ = false;
      } else if (in_string_) {
        is_escaped_ = c == '\\';
        in_string_ = c != '"';
      } else if (c == '"') {
        in_string_ = true;
      } else if (c == '{' || c == '[') {
        ++depth_;
      } else if (c == '}' || c == ']') {
        --depth_;
      }
      if (depth_ <= 0 && !in_string_) {
        depth_ = 0;
        TRY(document(std::exchange(document_, {})));
      } else if (document_.size() > kLargeDocument) {
        TRY(stream());
        return feed(bytes.substr(i + 1));
      }
    }
    return Ok{};
  }

  Result<> stream() {
    is_streamed_ = true;
    TRY(items_.feed(std::exchange(document_, {})));
    if (failed_) return *failed_;
    return Ok{};
  }

  // A list of objects in it is the table, else it is a row itself.
  Result<> document(const std::string& text) {
    element parsed;
    simdjson::dom::object object;
    simdjson::dom::parser parser;
    const simdjson::padded_string copy(text);
    if (parser.parse(copy).get(parsed) != simdjson::SUCCESS ||
        parsed.get(object) != simdjson::SUCCESS) {
      sink_.trouble(model::Trouble::kBadLine, {}, "is not a JSON object");
      return Ok{};
    }
    if (accelerators_in(parsed)) return add(rows_of(parsed), text.size());
    for (const auto& [key, value] : object) {
      simdjson::dom::array list;
      if (value.get(list) != simdjson::SUCCESS || list.size() == 0 || !list.at(0).is_object()) {
        continue;
      }
      for (const element each : list) TRY(add(rows_of(each), text.size() / list.size()));
      return Ok{};
    }
    return add(rows_of(parsed), text.size());
  }

  Result<> object(std::string_view text, Where where) {
    element parsed;
    const simdjson::padded_string copy(text);
    if (parser_.parse(copy).get(parsed) != simdjson::SUCCESS || !parsed.is_object()) {
      sink_.trouble(model::Trouble::kBadLine, where, "is not a JSON object");
      return Ok{};
    }
    return add(rows_of(parsed), text.size());
  }

  Result<> add(std::vector<Pairs> rows, std::size_t bytes) {
    for (Pairs& row : rows) {
      if (header_done_) {
        TRY(give(cells_of(row)));
        continue;
      }
      for (const auto& [key, value] : row) {
        if (keys_.size() < kMostKeys && std::ranges::find(keys_, key) == keys_.end()) {
          keys_.push_back(key);
        }
      }
      waiting_.push_back(std::move(row));
    }
    seen_ += bytes;
    return header_done_ || seen_ < kHeadObjects ? Result<>(Ok{}) : begin();
  }

  // An item of a list; of a document the first list that has objects is the table.
  void take(std::string_view key, std::string_view item, std::uint64_t byte) {
    if (form_ == Form::kDocuments) {
      if (table_.empty() && item.starts_with('{')) table_ = key;
      if (key != table_) return;
    } else {
      byte -= kBefore.size();
    }
    if (auto done = object(item, {.line = 0, .byte = byte}); !done) failed_ = done.error();
  }

  // By key; mostly each object has its keys in the same order.
  std::vector<std::string> cells_of(Pairs& row) const {
    std::vector<std::string> cells(keys_.size());
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const bool is_here = i < row.size() && row[i].first == keys_[i];
      const auto found = is_here ? row.begin() + static_cast<std::ptrdiff_t>(i)
                                 : std::ranges::find(row, keys_[i], &Pairs::value_type::first);
      if (found != row.end()) cells[i] = cell_of(std::move(found->second));
    }
    return cells;
  }

  Result<> give(const std::vector<std::string>& cells) {
    const Where where{.line = ++rows_, .byte = 0};
    for (const std::string& cell : cells) {
      if (cell.find('\0') == cell.npos) continue;
      sink_.trouble(model::Trouble::kBadLine, where, "has NUL bytes");
      return Ok{};
    }
    cells_.assign(cells);
    return sink_.row(cells_, where);
  }

  Result<> begin() {
    header_done_ = true;
    if (keys_.empty()) return bad_input("has no JSON object with a key");
    Head head;
    head.header = keys_;
    for (Pairs& row : waiting_) head.rows.push_back(cells_of(row));
    waiting_.clear();
    std::vector<std::vector<std::string>> rows = head.rows;
    if (head.rows.size() > kHeadRows) head.rows.resize(kHeadRows);
    TRY(sink_.begin(head));
    for (const std::vector<std::string>& row : rows) TRY(give(row));
    return Ok{};
  }

  Sink& sink_;
  simdjson::dom::parser parser_;
  LineCutter lines_;
  JsonItems items_;
  std::optional<Error> failed_;
  std::string first_;
  bool begun_ = false;
  Form form_ = Form::kLines;
  std::string document_;  // What has come of one.
  int depth_ = 0;         // In it.
  bool in_string_ = false;
  bool is_escaped_ = false;
  bool is_streamed_ = false;
  std::string table_;  // Of one that is streamed: the key whose list is read.
  std::vector<std::string> keys_;
  std::vector<Pairs> waiting_;
  std::size_t seen_ = 0;
  bool header_done_ = false;
  std::uint64_t rows_ = 0;
  Cells cells_;
};

JsonRows::JsonRows(Sink& sink) : impl_{std::make_unique<Impl>(sink)} {}
JsonRows::~JsonRows() = default;
Result<> JsonRows::feed(std::string_view bytes) { return impl_->feed(bytes); }
Result<> JsonRows::finish() { return impl_->finish(); }

namespace {

// Whether there is a list of objects.
bool has_objects(std::string_view text) {
  for (std::size_t at = 0; (at = text.find('[', at)) != text.npos; ++at) {
    if (trim(text.substr(at + 1, 100)).starts_with('{')) return true;
  }
  return false;
}

// Keeps the head and nothing else.
class HeadOnly final : public JsonRows::Sink {
 public:
  Result<> begin(const Head& head) override {
    head_ = head;
    return Ok{};
  }
  Result<> row(const Cells&, Where) override { return Ok{}; }
  void trouble(model::Trouble, Where, std::string_view) override {}
  std::optional<Head> head() && { return std::move(head_); }

 private:
  std::optional<Head> head_;
};

}  // namespace

std::optional<Head> head_of_objects(std::string_view bytes) {
  const std::string_view text = trim(bytes);
  const bool is_list = text.starts_with('[') && trim(text.substr(1)).starts_with('{');
  const std::size_t end = text.find('\n');
  const bool is_lines = text.starts_with('{') && end != text.npos &&
                        trim(text.substr(0, end)).ends_with('}') &&
                        trim(text.substr(end)).starts_with('{');
  const bool is_document = text.starts_with('{') && !is_lines && has_objects(text);
  if (!is_list && !is_lines && !is_document) return std::nullopt;
  HeadOnly head;
  JsonRows rows(head);
  // The last line or object may be cut.
  const std::size_t last = is_lines ? text.rfind('\n') : text.npos;
  if (!rows.feed(text.substr(0, last)) || !rows.finish()) return std::nullopt;
  return std::move(head).head();
}

}  // namespace amdahl::fleet::table
