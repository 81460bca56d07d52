// guess.h: guesses a mapping for a table from its columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fleet/table/head.h"
#include "fleet/table/mapping.h"

namespace amdahl::fleet::table {

struct Guess {
  Row row = Row::kJob;
  std::string toml;                  // The mapping; missing fields are comments in it.
  std::vector<std::string> missing;  // "start: when a job began"; empty: it can be read.
  std::vector<std::string> notes;    // Source of each field, and why if not by name.
  std::vector<std::string> unused;   // Names of unused columns.
  bool unit_by_values = false;  // Percent or fraction was decided by the first values, or by none.

  bool is_complete() const { return missing.empty(); }
};

// `path` and `host` as in ReaderOptions: a file name may contain the host.
Guess guess(const Head& head, std::string_view path, std::string_view host);

// For --explain-input: one line per fact.
std::string explain(const Guess& guess, const Head& head);
// For an error: what cannot be decided, and a mapping to complete.
std::string propose(const Guess& guess);

}  // namespace amdahl::fleet::table
