// guess.h: makes a mapping for a table that nobody wrote one for, by its columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fleet/table/head.h"
#include "fleet/table/mapping.h"

namespace amdahl::fleet::table {

struct Guess {
  Row row = Row::kJob;
  std::string toml;                  // The mapping; what is missing stands in it as a comment.
  std::vector<std::string> missing;  // "start: when a job began"; empty: it can be read.
  std::vector<std::string> notes;    // What each field was taken from, and why if not by its name.
  std::vector<std::string> unused;   // Columns, by name.
  bool unit_by_values = false;       // Whether in percent was told by the first values, or by none.

  bool is_complete() const { return missing.empty(); }
};

// `path` and `host` are those of ReaderOptions: a file's name may say whose it is.
Guess guess(const Head& head, std::string_view path, std::string_view host);

// For --explain-input: one line a fact.
std::string explain(const Guess& guess, const Head& head);
// For an error: what cannot be decided, and the mapping to complete.
std::string propose(const Guess& guess);

}  // namespace amdahl::fleet::table
