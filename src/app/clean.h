// clean.h: removes old folders of runs, by age and by size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"

namespace amdahl::app {

struct CleanOptions {
  double older_days = 30;  // Removes folders last used before that.
  std::optional<double>
      keep_gb;           // Then removes the oldest until this is left, but none of the last day.
  bool dry_run = false;  // Only say what would go.
};

struct Cleaned {
  struct Part {
    std::string folder;  // Of the state: "runs", "trees", "jobs".
    std::int64_t removed = 0;
    std::int64_t removed_bytes = 0;
    std::int64_t kept = 0;
    std::int64_t kept_bytes = 0;
  };
  std::vector<Part> parts;
  std::vector<std::string> failed;  // What could not be removed, and why.
};

// Never removes runs in flight or of live experiments, the current profile of a family, folders
// that the ledger does not know, or trees while a patched run is in flight. Holds the lease, so
// that no run starts meanwhile: kBusy if a cycle runs. The ledger and usage records are not
// touched.
Result<Cleaned> clean(Context& context, const CleanOptions& options);

}  // namespace amdahl::app
