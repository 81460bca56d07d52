// pairs.h: from "run one more pair" to a reservation, and from receipts to a fact.
#pragma once

#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "launch/launcher.h"
#include "ledger/ledger.h"
#include "model/pair.h"
#include "model/receipt.h"

namespace amdahl::app {

// CPU slots the pair needs: those of its largest arm, or of both if they run at once.
Result<int> slots_needed(const model::Spec& spec, const model::Pair& order);

// Reserves in the ledger, submits, and writes down the worker_run_id; a block's further variants
// with it. Returns the reservation.
Result<std::string> submit_pair(Context& context, const ledger::Family& family,
                                const model::Pair& order, const std::vector<int>& cpus,
                                std::int64_t fence);

// A worker_run_id is unique; the arm tells those of one block apart.
std::string shared_worker(const std::string& worker, int arm);

// Where pairs run now, for A/A pairs to say in their `target`: launcher and hardware.
std::string place_of(const Context& context);

// The receipts reduced to what verdicts need.
model::PairFact fact_of(const model::Pair& pair, const model::Spec& spec,
                        const launch::Receipts& receipts);

// The next free index among runs of one experiment, or of one family and purpose.
int next_index(const std::vector<model::Pair>& pairs);

// CPUs that no run in flight holds.
std::vector<int> free_slots(const Config& config, const std::vector<model::Pair>& in_flight);

}  // namespace amdahl::app
