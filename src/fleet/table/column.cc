#include "fleet/table/column.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/table/numbers.h"
#include "fleet/times.h"
#include "fleet/values.h"

namespace amdahl::fleet::table {
namespace {

// Days before months, then the other way round; what fits neither way is not of these.
constexpr std::string_view kDayFirst[] = {
    "%d/%m/%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S.%f", "%d/%m/%Y %I:%M:%S %p",
    "%d/%m/%Y %I:%M %p", "%d/%m/%Y",       "%d-%m-%Y %H:%M:%S",    "%d-%m-%Y %H:%M",
    "%d/%m/%y %H:%M:%S", "%d/%m/%y %H:%M", "%d/%m/%Y, %H:%M:%S",
};
constexpr std::string_view kMonthFirst[] = {
    "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S.%f", "%m/%d/%Y %I:%M:%S %p",
    "%m/%d/%Y %I:%M %p", "%m/%d/%Y",       "%m-%d-%Y %H:%M:%S",    "%m-%d-%Y %H:%M",
    "%m/%d/%y %H:%M:%S", "%m/%d/%y %H:%M", "%m/%d/%Y, %H:%M:%S",
};
constexpr std::string_view kOther[] = {
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y",
    "%Y%m%d %H:%M:%S",
    "%Y%m%dT%H%M%S",
    "%Y%m%dT%H%M%S%z",
    "%Y.%m.%d %H:%M:%S",
    "%d %b %Y %H:%M:%S",
    "%d-%b-%Y %H:%M:%S",
    "%b %d, %Y %H:%M:%S",
    "%b %d %Y %H:%M:%S",
    "%b %d, %Y @ %H:%M:%S.%f",
    "%d/%b/%Y:%H:%M:%S %z",
    "%a %b %d %H:%M:%S %Y",
    "%b %d %H:%M %Y",
    "%b %d %H:%M:%S %Y",
    "%a, %d %b %Y %H:%M:%S %z",
};

using TextCells = std::vector<std::string_view>;

bool all_fit(const TextCells& cells, std::string_view pattern) {
  const auto format = time_format(pattern);
  return format && std::ranges::all_of(cells, [&](std::string_view cell) {
           return format->read(cell, Zone{}).known();
         });
}

std::string_view fitting(const TextCells& cells, std::span<const std::string_view> patterns) {
  const auto found = std::ranges::find_if(
      patterns, [&](std::string_view pattern) { return all_fit(cells, pattern); });
  return found == patterns.end() ? std::string_view() : *found;
}

bool all_digits(const TextCells& cells, std::size_t count) {
  return std::ranges::all_of(cells, [&](std::string_view cell) {
    return cell.size() == count && cell.find_first_not_of("0123456789") == cell.npos;
  });
}

// Years that had accelerators in clusters, as seconds.
bool is_likely(double seconds) { return seconds > 1.1e9 && seconds < 4.1e9; }

struct Epoch {
  std::string_view unit;
  std::string_view format;
  double in_seconds;
};
constexpr Epoch kEpochs[] = {
    {"ms", "epoch_ms", 1e-3}, {"us", "epoch_us", 1e-6}, {"ns", "epoch_ns", 1e-9}};

void read_numbers_as_times(Column& column, const TextCells& cells) {
  if (all_digits(cells, 14) && all_fit(cells, "%Y%m%d%H%M%S")) {
    column.time = "%Y%m%d%H%M%S";
    return;
  }
  if (all_digits(cells, 8) && all_fit(cells, "%Y%m%d")) {
    column.time = "%Y%m%d";
    return;
  }
  for (const Epoch& epoch : kEpochs) {  // As the name says, or by its size.
    if (column.unit != epoch.unit && !column.plain.ends_with(epoch.unit)) continue;
    column.time = epoch.format;
    column.from_zero = !is_likely(column.most * epoch.in_seconds);
    return;
  }
  if (is_likely(column.most) || is_likely(column.most / 1e3) || is_likely(column.most / 1e6) ||
      is_likely(column.most / 1e9)) {
    column.time = "auto";
  } else if (column.least >= 0) {
    column.time = "epoch_s";
    column.from_zero = true;
  }
}

// A few cells may be garbage ("soon"); the others decide.
void find_time(Column& column, TextCells cells) {
  const std::size_t all = cells.size();
  const bool numbers = column.is_number();
  std::erase_if(cells, [&](std::string_view cell) {
    return numbers ? read_value(cell).trouble.has_value()
                   : cell.find_first_of("0123456789") == cell.npos;
  });
  if (cells.empty() || cells.size() * 5 < all * 4) return;
  if (numbers) return read_numbers_as_times(column, cells);
  const auto is_auto = [](std::string_view cell) { return read_time(cell, Zone{}).known(); };
  if (std::ranges::all_of(cells, is_auto)) {
    column.time = "auto";
    return;
  }
  const std::string_view days = fitting(cells, kDayFirst);
  const std::string_view months = fitting(cells, kMonthFirst);
  if (!days.empty() && !months.empty()) {
    column.unclear = fmt::format("'{}' may have the day first ({}) or the month ({})",
                                 clip(column.example, 40), days, months);
    return;
  }
  column.time = !days.empty() ? days : !months.empty() ? months : fitting(cells, kOther);
}

bool is_device_cell(std::string_view cell) {
  const std::string small = lower(cell);
  return small.find("gpu") != small.npos || (small.find('=') != small.npos && small.size() > 2);
}

Column column_of(const Head& head, std::size_t at, char decimal) {
  Column column;
  column.name = head.header[at];
  column.plain = plain_name(column.name, &column.unit);
  TextCells cells;
  for (const auto& row : head.rows) {
    const std::string_view cell = row[at];
    if (is_blank_word(cell) || cell == "Unknown" || cell == "NaN" || cell == "nan") continue;
    if (column.filled++ == 0) column.example = cell;
    if (cells.size() < 32) cells.push_back(cell);
    Nanos duration{};
    if (cell.find(':') != cell.npos && read_duration(cell, duration)) ++column.durations;
    if (is_device_cell(cell)) ++column.devices;
    const Value value = read_number(cell, decimal);
    if (!value) continue;
    column.least = column.numbers == 0 ? value.number : std::min(column.least, value.number);
    column.most = column.numbers == 0 ? value.number : std::max(column.most, value.number);
    column.fractions = column.fractions || value.number != std::floor(value.number);
    ++column.numbers;
  }
  find_time(column, std::move(cells));
  return column;
}

}  // namespace

std::string plain_name(std::string_view name, std::string* unit) {
  std::string plain;
  char close = '\0';
  for (const char c : lower(name)) {
    if (close != '\0') {
      if (c == close) {
        close = '\0';
      } else if (unit != nullptr && c != ' ') {
        *unit += c;
      }
    } else if (c == '(' || c == '[') {
      close = c == '(' ? ')' : ']';
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      plain += c;
    } else if (c == '%' && unit != nullptr) {
      *unit += c;
    }
  }
  return plain;
}

char head_decimal(const Head& head) {
  if (head.delimiter == ',') return '.';
  int commas = 0;
  for (const auto& row : head.rows) {
    for (const std::string& cell : row) {
      if (read_number(cell, ',').trouble) continue;
      const char sign = decimal_in(cell);
      if (sign == '.') return '.';
      commas += sign == ',' ? 1 : 0;
    }
  }
  return commas > 0 ? ',' : '.';
}

std::vector<Column> columns_of(const Head& head, char decimal) {
  std::vector<Column> columns;
  for (std::size_t i = 0; i < head.header.size(); ++i) {
    columns.push_back(column_of(head, i, decimal));
  }
  return columns;
}

}  // namespace amdahl::fleet::table
