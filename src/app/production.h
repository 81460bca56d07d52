// production.h: a production run under the canaries of its family: begins, shows life, ends.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "canary/canary.h"
#include "ledger/ledger.h"
#include "model/canary.h"
#include "model/change.h"
#include "model/spec.h"
#include "model/usage.h"
#include "os/lock.h"

namespace amdahl::app {

// What a production run needs to know of its family. A machine without access to the ledger reads
// it from overlays/FAMILY.json, which write_overlay() keeps.
struct Production {
  std::string family;
  model::Spec spec;
  model::Change baseline;
  struct Part {
    std::string id;  // Of a promoted hypothesis.
    model::Change change;
  };
  std::vector<Part> stack;              // Oldest first.
  std::vector<model::Canary> canaries;  // The open ones.
};
Result<Production> production_of(ledger::Ledger& ledger, const ledger::Family& family);
std::string production_json(const Production& production);
Result<Production> read_production(std::string_view json);

// One production run. Holds the lock of its slot, which tells a running job from a lost one.
struct ProductionRun {
  model::CanaryRun canary;
  model::Change change;  // The stack, without the change that is held back.
  std::string record;    // Its record file; empty if no canary is open.
  std::string lock_file;
  std::optional<os::FileLock> lock;
  std::optional<Nanos> shown;  // When it last showed that it is alive, since its start.
};

// Draws the coins of the family's open canaries and writes the record of a run that has not ended:
// STATE/canary/FAMILY/HOST/SLOT.json, a usage record without utilisation. Without an open canary
// the run gets the whole stack, and nothing is written. `begun` has job, user, workdir and start.
Result<ProductionRun> begin_production(const std::string& state_dir, const Production& production,
                                       model::Usage begun);
Result<ProductionRun> begin_production(const std::string& state_dir, ledger::Ledger& ledger,
                                       const ledger::Family& family, model::Usage begun);

// Shows observers on other hosts that the run is alive. Call often; writes once a minute.
// `elapsed`: since the run's start.
void show_alive(ProductionRun& run, Nanos elapsed, Nanos now);

// The run uses no promoted change after all: records that.
Result<> leave_canaries(ProductionRun& run);

// Records how the run ended. `ended.canary` is that of the run.
Result<> end_production(const ProductionRun& run, model::Usage ended);

struct WatchedRuns {
  std::vector<canary::Watched> runs;
  std::vector<std::string> unreadable;  // Files.
};
// All recorded runs. A run that has not ended and whose lock is free is lost. Locks of other hosts
// are not visible: their runs are lost one hour after they last showed that they are alive, or one
// week after their start if they never did (older versions). `now`: Unix time.
WatchedRuns watched_runs(const std::string& state_dir, const std::string& family, Nanos now);

}  // namespace amdahl::app
