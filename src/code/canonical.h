// canonical.h: source text in one spelling, to tell whether two edits do the same.
#pragma once

#include <string>
#include <vector>

#include "code/source.h"

namespace amdahl::code {

// A file before and after an edit; empty if it is not there.
struct Versions {
  Language language = Language::kPython;
  std::string before;
  std::string after;
};

// Rewrites both texts of every file, one line for each statement. Texts that differ only in layout,
// comments, docstrings, quotes, parentheses, spelling of numbers, statements without effect or
// names of local variables become equal. So do texts that differ in names that the edit introduces,
// defines and uses; those are numbered over all files, which must therefore be given together. A
// text that cannot be parsed stays as it is. The result is for comparison only: it is no program.
void make_canonical(std::vector<Versions>& files);

// The same for text in which '#' begins a comment (shell, YAML, TOML, CMake): without comments,
// blank lines and spaces at line ends.
std::string without_comments(std::string_view text);

}  // namespace amdahl::code
