// import_rows.h: the loop over a table's rows, for the files that implement Import.
#pragma once

#include <span>
#include <string_view>

#include <fmt/format.h>

#include "trace/nsys/import.h"

namespace amdahl::trace::nsys {

template <class Each>
void Import::for_each(const char* table, std::span<const std::string_view> columns, Each each) {
  auto found = database_.rows(table, columns);
  if (!found) return lose(model::LossKind::kUnreadable, found.error().text);
  auto rows = *std::move(found);
  if (!rows) return;
  while (true) {
    const auto more = rows->next();
    if (!more) return lose(model::LossKind::kTruncated, more.error().text);
    if (!*more || !each(*rows)) return;
  }
}

}  // namespace amdahl::trace::nsys
