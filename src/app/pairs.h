// pairs.h: from "run one more pair" to a reservation, and from receipts to a fact.
#pragma once

#include <string>
#include <string_view>
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

// The commit that a repo is at; empty if git cannot tell.
std::string head_of(const std::string& repo);

struct Submission {
  std::string reservation;
  std::string problem;  // Why no worker could be had yet; reconcile() tries again.
};
// Reserves in the ledger, submits, and writes down the worker_run_id; a block's further variants
// with it. Before anything is reserved: kBadInput if the spec cannot be run like that, kBusy if the
// place has no room for it now.
Result<Submission> submit_pair(Context& context, const ledger::Family& family,
                               const model::Pair& order, const std::vector<int>& cpus,
                               std::int64_t fence);

// What a reservation says for those who find the run again.
struct Identity {
  std::string ticket;                // That its folder must bear.
  std::string setup;                 // setup_of() when it was reserved; empty in older ledgers.
  std::vector<std::string> digests;  // Of the plans that the receipts of A and of its variant name.
  std::string environment;           // What the receipts must name besides; empty: anything.
  std::string source;
  double build_accelerator_s = 0;  // Of what it reserved, the part for builds.
};
Identity identity_of(const model::Pair& pair);

// The spec that it was reserved under, which its facts are about whatever the family's says now.
Result<model::Spec> spec_of(Context& context, const model::Pair& pair);

// Where the launcher finds it: a block's further variants share the run of the first.
launch::RunRef ref_of(const model::Pair& pair);

// Takes away receipts that are not of what was reserved, and says in `problem` what differs: the
// plan, the environment, the code, or the order in which the arms ran.
void refuse_mismatch(const model::Pair& pair, launch::Receipts& receipts);

// A worker_run_id is unique; the arm tells those of one block apart.
std::string shared_worker(const std::string& worker, int arm);

// Where pairs run now, for A/A pairs to say in their `target`: launcher and hardware.
std::string place_of(const Context& context);

// How the reasons of pairs begin that the place ended for reasons of its own.
inline constexpr std::string_view kInfrastructure = "infrastructure: ";

// The receipts reduced to what verdicts need.
model::PairFact fact_of(const model::Pair& pair, const model::Spec& spec,
                        const launch::Receipts& receipts);

// The next free index among runs of one experiment, or of one family and purpose.
int next_index(const std::vector<model::Pair>& pairs);

// CPUs that no run in flight holds.
std::vector<int> free_slots(const Config& config, const std::vector<model::Pair>& in_flight);

}  // namespace amdahl::app
