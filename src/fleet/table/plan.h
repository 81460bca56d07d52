// plan.h: how a table is to be read: by the mapping that was given, by a known layout, or by what
// its columns are called and hold.
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
  Head head{};  // Empty where a mapping was given.
  const Layout* layout = nullptr;
  std::optional<Guess> guess{};
};

// The layout that is known by these columns; null if there is none.
const Layout* known_layout(const Head& head);

// By a layout or by a guess. An error proposes a mapping to complete.
Result<Plan> plan_of(std::optional<Head> head, const ReaderOptions& options);

// What the table was recognised by, and what its columns mean; for people.
std::string explain(const Plan& plan);

// Whether a table with these columns has every one that the mapping wants. Without a header they
// are the cells of its first line: a time stands where one is wanted.
bool fits(const Mapping& mapping, std::span<const std::string_view> columns);

}  // namespace amdahl::fleet::table
