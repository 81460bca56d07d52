// pairs.h: from "run one more pair" to a reservation, and from receipts to a fact.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "launch/launcher.h"
#include "ledger/ledger.h"
#include "loop/order.h"
#include "model/receipt.h"

namespace amdahl::app {

using loop::PairOrder;

// CPU slots the pair needs: those of its largest arm, or of both if they run at once.
Result<int> slots_needed(const model::Spec& spec, const PairOrder& order);

// Reserves in the ledger, submits, and writes down the worker_run_id; a block's further variants
// with it. Returns the reservation.
Result<std::string> submit_pair(Context& context, const ledger::Family& family,
                                const PairOrder& order, const std::vector<int>& cpus,
                                std::int64_t fence);

// What a reservation says of its run besides the plans.
struct RunNotes {
  std::string stratum;
  std::string block;  // The reservation whose run it shares; empty for its own.
  int arm = 1;        // Which of the block's arms is its variant.
  bool concurrent = false;
  bool contended = false;
  bool steps = false;
  std::string schedule;  // Of the steps.
  std::string commit;    // That patches were applied to; empty if there were none.
};
RunNotes notes_of(const ledger::Run& run);

// A worker_run_id is unique; the arm tells those of one block apart.
std::string mate_worker(const std::string& worker, int arm);

// Where pairs run now, for A/A pairs to say in their `target`: launcher and hardware.
std::string place_of(const Context& context);

// Why the variant can never run, though the baseline could: its patch does not apply to the
// recorded commit, or what it makes of it does not build.
std::optional<std::string> why_never(const ledger::Run& run, const launch::Receipts& receipts);

// The receipts reduced to what verdicts need.
model::PairFact fact_of(const ledger::Run& run, const model::Spec& spec,
                        const launch::Receipts& receipts);

// The next free index among runs of one experiment, or of one family and purpose.
int next_index(const std::vector<ledger::Run>& runs);

// CPUs that no run in flight holds.
std::vector<int> free_slots(const Config& config, const std::vector<ledger::Run>& in_flight);

}  // namespace amdahl::app
