// plan.h: how to read a table: by a given mapping, a known layout, or a guess.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/source.h"
#include "fleet/table/guess.h"
#include "fleet/table/head.h"
#include "fleet/table/layouts.h"
#include "fleet/table/mapping.h"

namespace amdahl::fleet::table {

struct Plan {
  Mapping mapping;
  Head head{};  // Empty if a mapping was given.
  const Layout* layout = nullptr;
  std::optional<Guess> guess{};
};

// The layout with these columns, or null.
const Layout* known_layout(const Head& head);

// By a layout or a guess. The error proposes a mapping to complete.
Result<Plan> plan_of(std::optional<Head> head, const ReaderOptions& options);

// How the table was recognised, and what its columns mean; for people.
std::string explain(const Plan& plan);

// Whether the table has every column of the mapping. Without a header, `columns` are the cells of
// the first line: a time must be where one is expected.
bool fits(const Mapping& mapping, std::span<const std::string_view> columns);

}  // namespace amdahl::fleet::table
