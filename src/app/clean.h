// clean.h: removes what runs left behind and nobody reads any more, by age and by size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"

namespace amdahl::app {

struct CleanOptions {
  double older_days = 30;         // What was last used before that goes.
  std::optional<double> keep_gb;  // If more than this is left, the oldest goes too, down to a day.
  bool dry_run = false;           // Only say what would go.
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

// Never removes a run that is in flight, of a live experiment, or the present profile of a family;
// nor what the ledger does not know; nor trees while a patched run is in flight. Holds the lease,
// so that nothing begins meanwhile: kBusy if a cycle runs. The ledger and usage records are not
// touched.
Result<Cleaned> clean(Context& context, const CleanOptions& options);

}  // namespace amdahl::app
