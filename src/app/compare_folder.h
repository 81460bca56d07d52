// compare_folder.h: files of a comparison (docs/format/comparison.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/compare_pair.h"
#include "base/result.h"
#include "compare/compare.h"
#include "model/receipt.h"

namespace amdahl::app {

// Contents never change, except for the limit on pairs; each pair is written once, atomically.
struct CompareFolder {
  std::string path;
  CompareQuestion question;
  Nanos started{};                        // Unix time.
  std::optional<compare::Design> design;  // Fixed before the first pair.
  std::vector<model::PairFact> same;      // By index, as the following.
  std::vector<model::PairFact> pairs;
  // The question contained secrets: stored without them, so it cannot run as read.
  bool secrets = false;
  std::string digest;  // Of both specs including secrets.

  // The next index of that purpose that was never started.
  int next_index(model::Purpose purpose) const;
  std::string place(model::Purpose purpose, int index) const;  // Folder of the pair.
};

// Under <state_dir>/compare, with a name that sorts by time.
Result<CompareFolder> make_compare_folder(const std::string& state_dir,
                                          const CompareQuestion& question);

// By its path, its name, or "last".
Result<CompareFolder> open_compare_folder(const std::string& state_dir, const std::string& name);

// Digest of both specs.
std::string digest_of(const CompareQuestion& question);

Result<> keep_question(const CompareFolder& folder);
Result<> keep_pair(CompareFolder& folder, const model::PairFact& pair);

}  // namespace amdahl::app
