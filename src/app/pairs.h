// pairs.h: turns an order for a pair into a reservation, and receipts into a fact.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "launch/launcher.h"
#include "ledger/event.h"
#include "ledger/ledger.h"
#include "model/pair.h"
#include "model/receipt.h"

namespace amdahl::app {

// CPU slots that the pair needs: those of its largest arm, or of both if concurrent.
Result<int> slots_needed(const model::Spec& spec, const model::Pair& order);

// The commit of a repo's HEAD; empty if unknown.
std::string head_of(const std::string& repo);

inline constexpr int kTicketDigits = 16;

struct Submission {
  std::string reservation;
  std::string problem;  // Why it was not submitted yet; reconcile() retries.
  // Where runs have their own allocations, a separate run builds the worktree of a patch before the
  // pair is reserved. The id of that run, and whether it was started now; empty without one.
  std::string build{};
  bool build_began = false;
};
// Submits the runs that `drafts` reserve, records their worker_run_ids and releases them.
Result<Submission> hand_in(Context& context, const launch::PairRequest& request,
                           const std::vector<ledger::Draft>& drafts, std::int64_t fence);

// The run that builds a worktree for the request: the one in flight, or a new one. Nothing if all
// worktrees are `built`, or after so many failures that the pair must build it.
Result<std::optional<Submission>> build_first(Context& context, const ledger::Family& family,
                                              launch::PairRequest& request, std::int64_t fence);

// Reserves in the ledger, submits, and records the worker_run_id; also for a block's further
// variants. Before anything is reserved: kBadInput if the spec cannot run like that, kBusy if
// there is no room now.
Result<Submission> submit_pair(Context& context, const ledger::Family& family,
                               const model::Pair& order, const std::vector<int>& cpus,
                               std::int64_t fence);

// What a reservation says about its run.
struct Identity {
  std::string ticket;                // Required in its folder.
  std::string setup;                 // setup_of() at reservation; empty in older ledgers.
  std::vector<std::string> digests;  // Plans that the receipts of A and of its variant must name.
  std::string environment;           // Environment that the receipts must name; empty: any.
  std::string source;
  double build_accelerator_s = 0;  // The part of its reservation for builds.
};
Identity identity_of(const model::Pair& pair);

// The spec at reservation, which its facts refer to even if the family's spec has changed.
Result<model::Spec> spec_of(Context& context, const model::Pair& pair);

// How the launcher finds it: further variants of a block share the first one's run.
launch::RunRef ref_of(const model::Pair& pair);

// Removes receipts that do not match the reservation and explains the difference in `problem`: the
// plan, the environment, the code, or the order of the arms.
void refuse_mismatch(const model::Pair& pair, launch::Receipts& receipts);

// worker_run_id is unique; the arm distinguishes pairs of one block.
std::string shared_worker(const std::string& worker, int arm);

// Launcher and hardware, for the `target` of A/A pairs.
std::string place_of(const Context& context);

// Prefix of the reason for pairs that the place ended for reasons of its own.
inline constexpr std::string_view kInfrastructure = "infrastructure: ";

// The receipts reduced to what verdicts need.
model::PairFact fact_of(const model::Pair& pair, const model::Spec& spec,
                        const launch::Receipts& receipts);

// The next free index among runs of one experiment, or of one family and purpose.
int next_index(const std::vector<model::Pair>& pairs);

// CPUs that no run in flight holds.
std::vector<int> free_slots(const Config& config, const std::vector<model::Pair>& in_flight);

}  // namespace amdahl::app
