// infer.h: what two unchanged runs of a job show of its work, its results and its inputs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/receipt.h"
#include "model/spec.h"

namespace amdahl::app {

// One run, as far as its results go.
struct SeenRun {
  model::Receipt receipt;
  std::string output;                          // Its stdout.
  std::map<std::string, std::string> written;  // Path, as a spec names it, to digest.
};

// A field of the draft, for people: what was chosen, why, and how sure that is (0 to 1).
struct Inferred {
  std::string field;  // "work", "quality", "outputs", "inputs", "environment".
  std::string value;
  std::string because;
  double confidence = 0;
};

// Files under the folder that are not older than `since` (Unix time), with their digests. Hidden
// folders, caches and what is below `except` (our own state) are left out; bounded in number.
std::map<std::string, std::string> files_written(const std::string& folder, Nanos since,
                                                 const std::string& except = {});

// Whether the spec names a result that both arms of a pair can be compared by.
bool is_comparable(const model::Spec& spec);

// Fills in work, outputs, quality and inputs of the spec. kBadInput with what to do if the job
// cannot be tuned as it is: it does not repeat its work, it fails, or nothing that it leaves can
// be compared.
Result<std::vector<Inferred>> infer(const SeenRun& first, const SeenRun& second, model::Spec& spec);

// Variables of this process that decide how fast a job runs (OMP_NUM_THREADS, ...), which a spec
// must keep.
std::map<std::string, std::string> settings_in_environment();

}  // namespace amdahl::app
