#include "fleet/table/head.h"

#include <algorithm>

#include "base/text.h"
#include "fleet/table/cells.h"
#include "fleet/values.h"

namespace amdahl::fleet::table {
namespace {

constexpr std::size_t kEnough = 4096;
constexpr std::size_t kMost = std::size_t{64} << 10;
constexpr std::size_t kRecord = std::size_t{16} << 10;  // With line ends in quotes.

// The records of the first bytes, quotes over line ends included; blank ones and comments left out.
class Records {
 public:
  explicit Records(std::string_view bytes) : bytes_{bytes} {
    if (bytes_.starts_with("\xEF\xBB\xBF")) bytes_.remove_prefix(3);
  }

  bool next(std::string_view& record) {
    while (at_ < bytes_.size()) {
      std::size_t end = std::min(bytes_.find('\n', at_), bytes_.size());
      record = line(at_, end);
      const std::size_t begin = at_;
      while (std::ranges::count(record, '"') % 2 != 0 && end < bytes_.size() &&
             end - begin < kRecord) {
        end = std::min(bytes_.find('\n', end + 1), bytes_.size());
        record = line(begin, end);
      }
      at_ = end + 1;
      if (trim(record).empty() || is_ruler(record)) continue;
      if (begin == 0 && is_hint_for_excel(record)) continue;
      if (!record.starts_with('#')) return true;
      has_comments_ = true;
    }
    return false;
  }
  bool has_comments() const { return has_comments_; }

 private:
  std::string_view line(std::size_t begin, std::size_t end) const {
    std::string_view text = bytes_.substr(begin, end - begin);
    if (text.ends_with('\r')) text.remove_suffix(1);
    return text;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool has_comments_ = false;
};

// How many cells a record has; those that are empty at its end do not count.
std::size_t width_of(std::string_view record, char delimiter) {
  Cells cells;
  if (!cells.cut(record, delimiter)) return 0;
  std::size_t width = cells.size();
  while (width > 1 && cells[width - 1].empty()) --width;
  return width;
}

// The delimiter by which most of the records have as many cells as the first.
char best_delimiter(const std::vector<std::string_view>& records) {
  char best = '\0';
  double most = 0;
  for (const char candidate : {',', '\t', ';', '|', ' '}) {
    const std::size_t width = width_of(records.front(), candidate);
    if (width < 2 || (candidate == ' ' && best != '\0')) continue;
    std::size_t same = 0;
    for (const std::string_view record : records) {
      same += width_of(record, candidate) == width ? 1U : 0U;
    }
    const double share = static_cast<double>(same) / static_cast<double>(records.size());
    if (candidate == ' ' && share < 0.9) continue;
    const double score = share * static_cast<double>(width);
    if (score <= most) continue;
    best = candidate;
    most = score;
  }
  return best;
}

bool is_number_cell(std::string_view cell) {
  return !is_blank_word(cell) && !read_value(cell).trouble &&
         cell.find_first_of("0123456789") != cell.npos;
}

// Names, not values: the first cell is none, and most are words.
bool is_header(const Cells& cells) {
  std::size_t words = 0;
  for (const std::string_view cell : cells.all()) words += is_number_cell(cell) ? 0U : 1U;
  const std::string_view first = cells[0];
  const bool digit = !first.empty() && first.front() >= '0' && first.front() <= '9';
  // "time,0,1,2,3" names accelerators by their numbers.
  return !is_number_cell(first) && !digit && (words * 2 > cells.size() || cells.size() > 2) &&
         std::ranges::none_of(cells.all(), [](std::string_view cell) {
           return cell.find('.') != cell.npos && is_number_cell(cell);
         });
}

}  // namespace

bool is_ruler(std::string_view line) {
  return line.find("--") != line.npos && line.find_first_not_of("+-|: ") == line.npos;
}

bool is_hint_for_excel(std::string_view line) {
  line = trim(line);
  if (line.size() > 1 && line.front() == '"') line = line.substr(1, line.size() - 2);
  return line.size() <= 5 && line.starts_with("sep=");
}

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

std::optional<std::string_view> telling_part(std::string_view bytes, bool is_all) {
  if (bytes.size() > kMost) {
    bytes = bytes.substr(0, kMost);
    is_all = true;
  }
  const std::size_t first = bytes.find('\n');
  const std::size_t second = first == bytes.npos ? first : bytes.find('\n', first + 1);
  if (bytes.size() >= kEnough && second != bytes.npos) {
    const std::size_t last = bytes.rfind('\n', kEnough - 1);
    return bytes.substr(0, std::max(second, last == bytes.npos ? 0 : last) + 1);
  }
  if (is_all) return bytes;
  return std::nullopt;
}

std::optional<Head> head_of(std::string_view bytes) {
  Records from(bytes);
  std::vector<std::string_view> records;
  for (std::string_view record; records.size() <= kHeadRows && from.next(record);) {
    records.push_back(record);
  }
  if (records.empty()) return std::nullopt;
  const char first = trim(records.front()).empty() ? '\0' : trim(records.front()).front();
  if (first == '{' || first == '[' || first == '<') return std::nullopt;
  Head head;
  head.has_comments = from.has_comments();
  head.delimiter = best_delimiter(records);
  if (head.delimiter == '\0') return std::nullopt;
  Cells cells;
  for (const std::string_view record : records) {
    if (!cells.cut(record, head.delimiter)) continue;
    const bool is_first = head.header.empty();
    if (is_first) {
      head.has_header = is_header(cells);
      for (std::size_t i = 0; i < cells.size(); ++i) {
        head.header.push_back(head.has_header ? std::string(cells[i]) : std::to_string(i + 1));
      }
      if (head.has_header) continue;
    }
    std::vector<std::string> row(cells.all().begin(), cells.all().end());
    while (row.size() > head.header.size() && row.back().empty()) row.pop_back();
    if (row.size() != head.header.size()) {
      ++head.odd_rows;
    } else if (row != head.header) {
      head.rows.push_back(std::move(row));
    }
  }
  if (head.header.size() < 2) return std::nullopt;
  // What is no table has no two lines alike.
  if (head.odd_rows > head.rows.size() + 1) return std::nullopt;
  return head;
}

}  // namespace amdahl::fleet::table
