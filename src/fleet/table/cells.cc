#include "fleet/table/cells.h"

#include "base/text.h"

namespace amdahl::fleet::table {

bool Cells::quoted(std::string_view& record, char delimiter) {
  std::string_view rest = record.substr(1);
  std::string whole;
  for (;;) {
    const std::size_t quote = rest.find('"');
    if (quote == rest.npos) return false;
    if (quote + 1 < rest.size() && rest[quote + 1] == '"') {
      whole += rest.substr(0, quote + 1);
      rest.remove_prefix(quote + 2);
      continue;
    }
    // Most quoted cells have no quote inside, and need no copy.
    if (whole.empty()) {
      cells_.push_back(rest.substr(0, quote));
    } else {
      whole += rest.substr(0, quote);
      cells_.push_back(owned_.emplace_back(std::move(whole)));
    }
    rest.remove_prefix(quote + 1);
    const std::size_t next = rest.find(delimiter);
    record = next == rest.npos ? std::string_view() : rest.substr(next);
    return true;
  }
}

bool Cells::cut(std::string_view record, char delimiter) {
  cells_.clear();
  owned_.clear();
  for (;;) {
    while (!record.empty() && record.front() == ' ') record.remove_prefix(1);
    if (record.starts_with('"')) {
      if (!quoted(record, delimiter)) return false;
      if (record.empty()) return true;
    } else {
      const std::size_t end = record.find(delimiter);
      cells_.push_back(trim(record.substr(0, end)));
      if (end == record.npos) return true;
      record.remove_prefix(end);
    }
    record.remove_prefix(1);  // The delimiter.
  }
}

}  // namespace amdahl::fleet::table
