// pairs.h: from "run one more pair" to a reservation, and from receipts to a fact.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "launch/launcher.h"
#include "ledger/ledger.h"
#include "model/receipt.h"

namespace amdahl::app {

// What a run is for; the ledger's `purpose`. A top-up carries its check: "top-up:order".
std::string purpose_text(model::Purpose purpose, const std::string& target);
model::Purpose purpose_of(std::string_view text);
std::string target_in(std::string_view purpose_text);

// A pair to be submitted: everything but the slots, which whoever grants them adds.
struct PairOrder {
  std::string family;
  std::string experiment;  // Empty for same, stack and profile.
  std::string purpose;
  int index = 0;
  bool variant_second = false;
  model::Change a;  // On top of the spec.
  model::Change b;
  bool profile = false;
};

// CPU slots the pair needs: those of its larger arm.
Result<int> slots_needed(const model::Spec& spec, const PairOrder& order);

// Reserves in the ledger, submits, and writes down the worker_run_id. Returns the reservation.
Result<std::string> submit_pair(Context& context, const ledger::Family& family,
                                const PairOrder& order, const std::vector<int>& cpus,
                                std::int64_t fence);

// The receipts reduced to what verdicts need.
model::PairFact fact_of(const ledger::Run& run, const model::Spec& spec,
                        const launch::Receipts& receipts);

// The next free index among runs of one experiment, or of one family and purpose.
int next_index(const std::vector<ledger::Run>& runs);

// CPUs that no run in flight holds.
std::vector<int> free_slots(const Config& config, const std::vector<ledger::Run>& in_flight);

}  // namespace amdahl::app
