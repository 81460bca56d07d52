// compare_folder.h: what a comparison keeps on disk (docs/format/comparison.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/compare_pair.h"
#include "base/result.h"
#include "compare/compare.h"
#include "model/receipt.h"

namespace amdahl::app {

// What is in it is never changed but for the limit on pairs; each pair is written once, by rename.
struct CompareFolder {
  std::string path;
  CompareQuestion question;
  Nanos started{};                        // Unix time.
  std::optional<compare::Design> design;  // Frozen before the first pair.
  std::vector<model::PairFact> same;      // By index, as the following.
  std::vector<model::PairFact> pairs;
  bool secrets = false;  // The question held some: it was kept without, and cannot run as read.
  std::string digest;    // Of both specs with their secrets.

  // The next index of that purpose that was never begun.
  int next_index(model::Purpose purpose) const;
  std::string place(model::Purpose purpose, int index) const;  // The pair's own folder.
};

// Under <state_dir>/compare, with a name that sorts by time.
Result<CompareFolder> make_compare_folder(const std::string& state_dir,
                                          const CompareQuestion& question);

// By its path, its name, or "last".
Result<CompareFolder> open_compare_folder(const std::string& state_dir, const std::string& name);

// Of both specs, all in all: the same if they are.
std::string digest_of(const CompareQuestion& question);

Result<> keep_question(const CompareFolder& folder);
Result<> keep_pair(CompareFolder& folder, const model::PairFact& pair);

}  // namespace amdahl::app
