#include "fleet/table/mapping_builder.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/table/synonyms.h"

namespace amdahl::fleet::table {

std::string toml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\u{:04X}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

MappingBuilder::MappingBuilder(const Head& head)
    : head_{head},
      decimal_{head_decimal(head)},
      columns_{columns_of(head, decimal_)},
      used_(columns_.size(), false) {}

const Column* MappingBuilder::find(Field field, const Fits& fits) const {
  const Column* best = nullptr;
  int least = 0;
  for (const Column& column : columns_) {
    if (is_used(column)) continue;
    const auto rank = says(column, field);
    if (!rank || (best != nullptr && *rank >= least)) continue;
    if (fits && !fits(column)) continue;
    best = &column;
    least = *rank;
  }
  return best;
}

void MappingBuilder::line(std::string_view field, std::string_view toml, std::string_view why) {
  lines_ += fmt::format("{} = {}\n", field, toml);
  note(fmt::format("{} = {}{}{}", field, toml, why.empty() ? "" : ": ", why));
}

void MappingBuilder::give(Field field, const Column& column, std::string_view more,
                          std::string_view why) {
  use(column);
  line(name(field),
       more.empty() ? toml_quoted(column.name)
                    : fmt::format("{{ column = {}, {} }}", toml_quoted(column.name), more),
       why);
}

bool MappingBuilder::repeats(const Column& key, const Column& of) const {
  std::map<std::string_view, std::string_view> seen;
  return std::ranges::any_of(head_.rows, [&](const std::vector<std::string>& row) {
    const auto [at, is_new] = seen.emplace(row[index_of(key)], row[index_of(of)]);
    return !is_new && at->second != row[index_of(of)];
  });
}

bool MappingBuilder::differs(const Column& column) const {
  const std::size_t i = index_of(column);
  return std::ranges::any_of(head_.rows, [&](const std::vector<std::string>& row) {
    return row[i] != head_.rows.front()[i];
  });
}

const Column* MappingBuilder::take(Field field, const Fits& fits) {
  const Column* column = find(field, fits);
  if (column != nullptr) give(field, *column);
  return column;
}

const Column* MappingBuilder::time_beside(const Column& date) const {
  if (date.filled == 0 || date.from_zero || date.time.find("%H") != std::string::npos)
    return nullptr;
  for (const auto& row : head_.rows) {
    const std::string& cell = row[index_of(date)];
    if (cell.size() > 10 || cell.find(':') != cell.npos) return nullptr;
  }
  std::string wanted = date.plain;  // "startdate" and "starttime".
  if (const std::size_t at = wanted.find("date"); at != wanted.npos) wanted.replace(at, 4, "time");
  for (const Column& column : columns_) {
    const bool is_day = column.filled > 0 && column.durations == column.filled && !is_used(column);
    if (!is_day) continue;
    if (column.plain == wanted) return &column;
    if (date.plain != "date" && date.plain != "day") continue;
    if (column.plain == "clock" || column.plain == "timeofday" || column.plain == "hour") {
      return &column;
    }
  }
  return nullptr;
}

void MappingBuilder::give_time(Field field, const Column& column, std::string_view why) {
  if (const Column* beside = time_beside(column)) {
    use(*beside);
    std::string more = fmt::format("and = {}", toml_quoted(beside->name));
    if (column.time != "auto") {
      const bool has_seconds = std::ranges::count(beside->example, ':') > 1;
      const bool has_fraction = beside->example.find('.') != std::string::npos;
      more += fmt::format(", time = {}", toml_quoted(fmt::format("{} %H:%M{}{}", column.time,
                                                                 has_seconds ? ":%S" : "",
                                                                 has_fraction ? ".%f" : "")));
    }
    return give(field, column, more, "a date and its time of day");
  }
  if (column.from_zero) {
    from_zero_ = true;
    epoch_ = column.time;
    return give(field, column, "", why);
  }
  if (column.time.empty() || column.time == "auto") return give(field, column, "", why);
  give(field, column, fmt::format("time = {}", toml_quoted(column.time)), why);
}

const Column* MappingBuilder::take_time(Field field) {
  const Column* column = find(field, [](const Column& each) {
    return each.filled == 0 || each.is_time() || !each.unclear.empty();
  });
  if (column == nullptr) return nullptr;
  if (column->unclear.empty()) {
    give_time(field, *column);
  } else {
    use(*column);
    miss(name(field), fmt::format("column {}: {}", toml_quoted(column->name), column->unclear));
  }
  return column;
}

void MappingBuilder::miss(std::string_view field, std::string_view what) {
  guess_.missing.push_back(fmt::format("{}: {}", field, what));
  const std::string_view form =
      field == "value" ? "{ column = \"COLUMN\", metric = \"gpu_util\", unit = \"percent\" }"
                       : "\"COLUMN\"";
  missing_ += fmt::format("# {} = {}   # must be given: {}\n", field, form, what);
}

void MappingBuilder::value(std::string toml, std::string note_text) {
  values_ += "[[value]]\n" + std::move(toml);
  if (!note_text.empty()) note(std::move(note_text));
}

Guess MappingBuilder::finish(Row row) && {
  constexpr std::string_view kRows[] = {"job", "sample", "place", "capacity", "occupancy"};
  guess_.row = row;
  std::string& toml = guess_.toml;
  toml = fmt::format("row = \"{}\"\n", kRows[static_cast<std::size_t>(row)]);
  toml += fmt::format("delimiter = {}\n",
                      head_.delimiter == '\t' ? "\"tab\"" : toml_quoted({&head_.delimiter, 1}));
  if (!head_.has_header) toml += "header = false\n";
  if (head_.has_comments) toml += "comment = \"#\"\n";
  if (decimal_ == ',') toml += "decimal = \",\"\n";
  if (from_zero_) {
    toml += fmt::format("time = \"{}\"\ntime_base = \"2000-01-01\"\n", epoch_);
    note("its clock does not start in 1970: 0 is shown as 2000-01-01");
  }
  toml += "[columns]\n" + lines_ + missing_ + values_;
  for (const Column& column : columns_) {
    if (!is_used(column)) guess_.unused.push_back(column.name);
  }
  if (!guess_.missing.empty() && !guess_.unused.empty()) {
    toml += "# columns without a meaning, with their first value:\n";
    for (const Column& column : columns_) {
      if (is_used(column)) continue;
      std::string example = clip(column.example, 40);
      std::ranges::replace_if(
          example, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
      toml += fmt::format("#   {}   {}\n", toml_quoted(clip(column.name, 60)), example);
    }
  }
  return std::move(guess_);
}

}  // namespace amdahl::fleet::table
