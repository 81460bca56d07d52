#include "fleet/table/long_columns.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "fleet/metrics.h"

namespace amdahl::fleet::table {
namespace {

struct Name {
  std::string_view name;
  LongRole role;
};
constexpr auto kNames = std::to_array<Name>({
    {"timestamp", LongRole::kTime},
    {"time", LongRole::kTime},
    {"ts", LongRole::kTime},
    {"epoch", LongRole::kTime},
    {"datetime", LongRole::kTime},
    {"hostname", LongRole::kHost},
    {"host", LongRole::kHost},
    {"node", LongRole::kHost},
    {"nodename", LongRole::kHost},
    {"instance", LongRole::kHost},
    {"gpu", LongRole::kDevice},
    {"gpu_id", LongRole::kDevice},
    {"gpu_index", LongRole::kDevice},
    {"index", LongRole::kDevice},
    {"minor_number", LongRole::kDevice},
    {"accelerator", LongRole::kDevice},
    {"uuid", LongRole::kUuid},
    {"gpu_uuid", LongRole::kUuid},
    {"gpu_i_id", LongRole::kSlice},
    {"hpc_job", LongRole::kJob},
    {"jobid", LongRole::kJob},
    {"job_id", LongRole::kJob},
    {"modelname", LongRole::kKind},
    {"gpu_type", LongRole::kKind},
    {"metric", LongRole::kMetric},
    {"__name__", LongRole::kMetric},
    {"value", LongRole::kValue},
    {"slurmjobid", LongRole::kJob},
    {"slurm_job_id", LongRole::kJob},
    {"nvidia_gpu_jobid", LongRole::kJob},
    {"gpu_i_profile", LongRole::kProfile},
});

LongRole role_of(std::string_view name) {
  const std::string small = lower(name);
  for (const Name& row : kNames) {
    if (row.name == small) return row.role;
  }
  return find_usage_metric(name) ? LongRole::kUsage : LongRole::kOther;
}

bool is_key(LongRole role) {
  return role != LongRole::kTime && role != LongRole::kOther && role != LongRole::kValue &&
         role != LongRole::kUsage;
}

std::string_view unquoted(std::string_view cell) {
  cell = trim(cell);
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') {
    return cell.substr(1, cell.size() - 2);
  }
  return cell;
}

char delimiter_of(std::string_view header) {
  constexpr std::string_view kAll = ",\t;|";
  return *std::max_element(kAll.begin(), kAll.end(), [&](char a, char b) {
    return std::count(header.begin(), header.end(), a) <
           std::count(header.begin(), header.end(), b);
  });
}

void find_key(LongColumns& columns) {
  std::size_t end = 1;
  while (end < columns.list.size() && is_key(columns.list[end].role)) ++end;
  columns.key_end = end;
  columns.is_plain =
      columns.list[0].role == LongRole::kTime && end > 1 &&
      std::none_of(columns.list.begin() + static_cast<std::ptrdiff_t>(end), columns.list.end(),
                   [](const LongColumn& column) { return is_key(column.role); });
}

struct FieldRole {
  Field field;
  LongRole role;
};
constexpr auto kFieldRoles = std::to_array<FieldRole>({{Field::kTime, LongRole::kTime},
                                                       {Field::kHost, LongRole::kHost},
                                                       {Field::kAccelerator, LongRole::kDevice},
                                                       {Field::kUuid, LongRole::kUuid},
                                                       {Field::kSlice, LongRole::kSlice},
                                                       {Field::kJob, LongRole::kJob},
                                                       {Field::kKind, LongRole::kKind}});

// A column as it stands, without another and without a rule for its cells.
bool is_bare(const From& from) {
  return from.what == From::What::kColumn && from.times.empty() && from.also.empty() &&
         from.words.empty() && from.cut == '\0' && from.after == '\0';
}

// Whether the times of the first rows are read the same without a pattern.
bool is_usual_time(const From& from, const Head& head, std::size_t column, const Zone& zone) {
  return std::ranges::all_of(head.rows, [&](const std::vector<std::string>& row) {
    const Instant usual = read_time(row[column], zone);
    return usual.known() && usual.at == from.time.read(row[column], zone).at;
  });
}

// The one value of a row, if it is a column of its own in the metric's own unit.
const ValueColumn* only_value(const Mapping& mapping) {
  if (mapping.values.size() != 1) return nullptr;
  const ValueColumn& value = mapping.values.front();
  const bool is_column = value.column.find('*') == std::string::npos && !value.by_labels;
  const bool is_plain = value.host.empty() && value.accelerator.empty() && value.split.empty();
  return is_column && is_plain && value.scale == 1 ? &value : nullptr;
}

}  // namespace

std::optional<LongColumns> long_columns_by(const Mapping& mapping, const Head& head,
                                           const Zone& zone) {
  const bool is_simple = mapping.row == Row::kSample && mapping.header && mapping.decimal == '.' &&
                         mapping.comment.empty() && mapping.where.empty() && !mapping.zone;
  const bool is_even =
      head.has_header && !head.has_comments && head.odd_rows == 0 && !head.rows.empty();
  const ValueColumn* value = only_value(mapping);
  if (!is_simple || !is_even || !value || head.delimiter == ' ') return std::nullopt;
  LongColumns columns;
  columns.delimiter = head.delimiter;
  columns.is_guess = mapping.is_guess;
  for (const std::string& name : head.header) columns.list.push_back({.name = name});
  const auto place_of = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(head.header, name) - head.header.begin());
  };
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    const From& from = mapping.from[i];
    if (!from.given()) continue;
    const auto known = std::ranges::find(kFieldRoles, static_cast<Field>(i), &FieldRole::field);
    const std::size_t place = place_of(from.column);
    if (known == kFieldRoles.end() || !is_bare(from) || place == columns.list.size() ||
        columns.list[place].role != LongRole::kOther) {
      return std::nullopt;
    }
    columns.list[place].role = known->role;
    const bool is_time = known->role == LongRole::kTime;
    if (is_time && !is_usual_time(from, head, place, zone)) return std::nullopt;
  }
  const bool has_device = mapping[Field::kAccelerator].given() || mapping[Field::kUuid].given();
  const std::size_t place = place_of(value->column);
  if (!mapping[Field::kTime].given() || !mapping[Field::kHost].given() || !has_device ||
      place == columns.list.size() || columns.list[place].role != LongRole::kOther) {
    return std::nullopt;
  }
  columns.list[place].role = LongRole::kUsage;
  columns.list[place].metric = value->metric;
  columns.values.push_back(place);
  find_key(columns);
  return columns;
}

std::optional<LongColumns> long_columns_of(std::string_view header) {
  if (header.starts_with("\xEF\xBB\xBF")) header.remove_prefix(3);
  LongColumns columns;
  columns.delimiter = delimiter_of(header);
  std::array<int, 16> count{};
  for (const std::string_view cell : split(header, columns.delimiter)) {
    const std::string_view name = unquoted(cell);
    const LongRole role = role_of(name);
    ++count[static_cast<std::size_t>(role)];
    columns.list.push_back({.name = std::string(name), .role = role});
  }
  const auto has = [&](LongRole role) { return count[static_cast<std::size_t>(role)]; };
  const bool in_rows = has(LongRole::kMetric) == 1 && has(LongRole::kValue) == 1;
  if (has(LongRole::kTime) != 1 || has(LongRole::kHost) != 1) return std::nullopt;
  if (has(LongRole::kDevice) + has(LongRole::kUuid) == 0 || has(LongRole::kDevice) > 1)
    return std::nullopt;
  if (!in_rows && (has(LongRole::kUsage) == 0 || has(LongRole::kMetric) > 0)) return std::nullopt;
  for (std::size_t i = 0; i < columns.list.size(); ++i) {
    LongRole& role = columns.list[i].role;
    if (role == (in_rows ? LongRole::kUsage : LongRole::kValue)) role = LongRole::kOther;
    const bool is_beside =
        !in_rows && role == LongRole::kOther && find_beside_metric(columns.list[i].name);
    if (is_beside) role = LongRole::kUsage;
    if (role == (in_rows ? LongRole::kValue : LongRole::kUsage)) columns.values.push_back(i);
  }
  find_key(columns);
  return columns;
}

}  // namespace amdahl::fleet::table
