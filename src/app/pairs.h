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
  // Where runs have their own allocations, or helpers are there, the worktree of a patch is built
  // by a run of its own before anything of the pair is reserved: that run, and whether it began
  // now. Without it, empty.
  std::string build{};
  bool build_began = false;
};
// Submits the runs that `drafts` reserve, records their worker_run_ids and releases them.
Result<Submission> hand_in(Context& context, const launch::PairRequest& request,
                           const std::vector<ledger::Draft>& drafts, std::int64_t fence);

// A run that builds a worktree which the request needs: the one under way, or a new one that
// begins. Nothing if all are `built`, if that was tried so often that the pair must do it, or if
// runs have no allocation and no helper could do it.
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

// Launcher and hardware of a family's runs, for the `target` of its A/A pairs; "": of families
// without settings of their own.
std::string place_of(const Context& context, const std::string& family = {});

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
