#include "fleet/csv_long/columns.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "fleet/metrics.h"

namespace amdahl::fleet::csv_long {
namespace {

struct Name {
  std::string_view name;
  Role role;
};
constexpr auto kNames = std::to_array<Name>({
    {"timestamp", Role::kTime},
    {"time", Role::kTime},
    {"ts", Role::kTime},
    {"epoch", Role::kTime},
    {"datetime", Role::kTime},
    {"hostname", Role::kHost},
    {"host", Role::kHost},
    {"node", Role::kHost},
    {"nodename", Role::kHost},
    {"instance", Role::kHost},
    {"gpu", Role::kDevice},
    {"gpu_id", Role::kDevice},
    {"gpu_index", Role::kDevice},
    {"index", Role::kDevice},
    {"minor_number", Role::kDevice},
    {"accelerator", Role::kDevice},
    {"uuid", Role::kUuid},
    {"gpu_uuid", Role::kUuid},
    {"gpu_i_id", Role::kSlice},
    {"hpc_job", Role::kJob},
    {"jobid", Role::kJob},
    {"job_id", Role::kJob},
    {"modelname", Role::kKind},
    {"gpu_type", Role::kKind},
    {"metric", Role::kMetric},
    {"__name__", Role::kMetric},
    {"value", Role::kValue},
    {"slurmjobid", Role::kJob},
    {"slurm_job_id", Role::kJob},
    {"nvidia_gpu_jobid", Role::kJob},
    {"gpu_i_profile", Role::kProfile},
});

Role role_of(std::string_view name) {
  const std::string small = lower(name);
  for (const Name& row : kNames) {
    if (row.name == small) return row.role;
  }
  return find_usage_metric(name) ? Role::kUsage : Role::kOther;
}

bool is_key(Role role) {
  return role != Role::kTime && role != Role::kOther && role != Role::kValue &&
         role != Role::kUsage;
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

void find_key(Columns& columns) {
  std::size_t end = 1;
  while (end < columns.list.size() && is_key(columns.list[end].role)) ++end;
  columns.key_end = end;
  columns.is_plain =
      columns.list[0].role == Role::kTime && end > 1 &&
      std::none_of(columns.list.begin() + static_cast<std::ptrdiff_t>(end), columns.list.end(),
                   [](const Column& column) { return is_key(column.role); });
}

}  // namespace

std::optional<Columns> columns_of(std::string_view header) {
  if (header.starts_with("\xEF\xBB\xBF")) header.remove_prefix(3);
  Columns columns;
  columns.delimiter = delimiter_of(header);
  std::array<int, 16> count{};
  for (const std::string_view cell : split(header, columns.delimiter)) {
    const std::string_view name = unquoted(cell);
    const Role role = role_of(name);
    ++count[static_cast<std::size_t>(role)];
    columns.list.push_back({std::string(name), role});
  }
  const auto has = [&](Role role) { return count[static_cast<std::size_t>(role)]; };
  const bool in_rows = has(Role::kMetric) == 1 && has(Role::kValue) == 1;
  if (has(Role::kTime) != 1 || has(Role::kHost) != 1) return std::nullopt;
  if (has(Role::kDevice) + has(Role::kUuid) == 0 || has(Role::kDevice) > 1) return std::nullopt;
  if (!in_rows && (has(Role::kUsage) == 0 || has(Role::kMetric) > 0)) return std::nullopt;
  for (std::size_t i = 0; i < columns.list.size(); ++i) {
    Role& role = columns.list[i].role;
    if (role == (in_rows ? Role::kUsage : Role::kValue)) role = Role::kOther;
    if (role == (in_rows ? Role::kValue : Role::kUsage)) columns.values.push_back(i);
  }
  find_key(columns);
  return columns;
}

}  // namespace amdahl::fleet::csv_long
