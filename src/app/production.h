// production.h: a production run's seat beside the canaries of its family.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "canary/canary.h"
#include "ledger/ledger.h"
#include "model/change.h"
#include "model/usage.h"
#include "os/lock.h"

namespace amdahl::app {

// What one run goes with. While it lives it holds the lock of its seat, so that whoever looks can
// tell a run that goes on from one that is lost.
struct Seat {
  model::CanaryRun run;
  model::Change change;  // Of the stack, without what is held back.
  std::string record;    // The file that tells of it; empty if no canary is open.
  std::string lock_file;
  std::optional<os::FileLock> lock;
  std::optional<Nanos> shown;  // When it last said that it goes on, since its start.
};

// Draws by the coins of the family's open canaries and writes the record of a run that has not
// ended: STATE/canary/FAMILY/HOST/SLOT.json, a usage record without utilisation. With no canary
// open it is the whole stack, and nothing is written. `begun` names job, user, workdir and start.
Result<Seat> take_seat(const std::string& state_dir, ledger::Ledger& ledger,
                       const ledger::Family& family, model::Usage begun);

// Says that the run goes on, for those who look from other hosts; to be called as time passes, and
// writes once a minute. `elapsed`: since the run's start.
void show_alive(Seat& seat, Nanos elapsed, Nanos now);

// The run ran with nothing that was promoted after all: its record says so.
Result<> give_up_seat(Seat& seat);

// Writes down how the run ended. `ended.canary` is the seat's.
Result<> leave_seat(const Seat& seat, model::Usage ended);

struct WatchedRuns {
  std::vector<canary::Watched> runs;
  std::vector<std::string> unreadable;  // Counted, not hidden.
};
// All that took a seat. A run that has not ended and whose lock is free is lost. The lock of
// another host's cannot be seen from here: it is lost an hour after it last said that it goes on,
// and a week after its start if it never did (an older version's). `now`: Unix time.
WatchedRuns watched_runs(const std::string& state_dir, const std::string& family, Nanos now);

}  // namespace amdahl::app
