// infer.h: infers a job's work, results and inputs from two unchanged runs.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/receipt.h"
#include "model/spec.h"

namespace amdahl::app {

// The results of one run.
struct SeenRun {
  model::Receipt receipt;
  std::string output;                          // Its stdout.
  std::map<std::string, std::string> written;  // Path, as in a spec, to digest.
  std::set<std::string> opened;                // Paths of files that it opened, as far as known.
};

// A field of the draft, for people: what was chosen, why, and the confidence (0 to 1).
struct Inferred {
  std::string field;  // "work", "quality", "outputs", "inputs", "environment".
  std::string value;
  std::string because;
  double confidence = 0;
};

// Files below the folder that are not older than `since` (Unix time), with digests. Skips hidden
// folders, caches and `except` (our own state); bounded in number.
std::map<std::string, std::string> files_written(const std::string& folder, Nanos since,
                                                 const std::string& except = {});

// Whether the spec names a result by which the arms of a pair can be compared.
bool is_comparable(const model::Spec& spec);
// Which mandatory check can never be answered with this spec, and what to add; empty: none.
std::string why_never_promoted(const model::Spec& spec);

// Fills in work, outputs, quality and inputs of the spec. kBadInput, with what to do, if the job
// cannot be tuned as it is: it fails, does not repeat its work, or leaves nothing to compare.
Result<std::vector<Inferred>> infer(const SeenRun& first, const SeenRun& second, model::Spec& spec);

// Variables of this process that affect a job's speed (OMP_NUM_THREADS, ...), to be kept in a
// spec.
std::map<std::string, std::string> settings_in_environment();

}  // namespace amdahl::app
