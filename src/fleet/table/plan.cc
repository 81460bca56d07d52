#include "fleet/table/plan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"

namespace amdahl::fleet::table {
namespace {

std::vector<std::string_view> views_of(const std::vector<std::string>& cells) {
  return {cells.begin(), cells.end()};
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

// Whether there are as many columns, and a time where one is to be.
bool fits_by_number(const Mapping& mapping, std::span<const std::string_view> cells) {
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

}  // namespace

const Layout* known_layout(const Head& head) {
  if (head.has_header) return layout_of(views_of(head.header));
  return head.rows.empty() ? nullptr : shape_of(views_of(head.rows.front()));
}

Result<Plan> plan_of(std::optional<Head> head, const ReaderOptions& options) {
  if (!head) {
    return bad_input(
        "is not a table: it needs two columns or more, and as many cells in each line");
  }
  Plan plan;
  plan.head = *std::move(head);
  plan.layout = known_layout(plan.head);
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

std::string explain(const Plan& plan) {
  if (plan.guess) return explain(*plan.guess, plan.head);
  return plan.layout ? explain_layout(*plan.layout) : "by the given mapping";
}

bool fits(const Mapping& mapping, std::span<const std::string_view> columns) {
  if (!mapping.header) return fits_by_number(mapping, columns);
  const auto has = [&](std::string_view column) {
    return column.empty() || std::ranges::find(columns, column) != columns.end();
  };
  const auto has_like = [&](const ValueColumn& value) {
    const std::size_t star = value.column.find('*');
    const std::string_view before = std::string_view(value.column).substr(0, star);
    return star == std::string::npos ? has(value.column)
                                     : std::ranges::any_of(columns, [&](std::string_view name) {
                                         return name.starts_with(before);
                                       });
  };
  return std::ranges::all_of(
             mapping.from, [&](const From& from) { return has(from.column) && has(from.times); }) &&
         std::ranges::all_of(mapping.where,
                             [&](const Filter& filter) { return has(filter.column); }) &&
         std::ranges::all_of(mapping.values, has_like);
}

}  // namespace amdahl::fleet::table
