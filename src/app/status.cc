#include "app/status.h"

#include <algorithm>
#include <cmath>

namespace amdahl::app {

Result<Status> read_status(Context& context) {
  Status status{.snapshot = TRY(take_snapshot(context))};
  status.state_dir = context.config.state_dir;
  status.tallies = TRY(context.ledger->tallies());
  status.budgets = TRY(context.ledger->budgets());
  status.campaign = TRY(context.ledger->campaign());
  status.choice = TRY(context.ledger->choice());
  // The lease is the server's: if that is away, nobody knows who has it.
  auto lease = context.ledger->lease();
  if (!lease && lease.error().kind != Error::Kind::kExternal) return lease.error();
  if (lease) status.lease = *std::move(lease);
  status.pending = TRY(context.ledger->gate("pending"));
  status.rollbacks = TRY(context.ledger->canaries_in(model::CanaryState::kRollbackProposed));
  status.e_needed = std::exp(loop::promotion_level(status.snapshot.experiments.state()));
  return status;
}

double under_test(const Status& status) {
  const loop::Experiments& all = status.snapshot.experiments;
  std::map<std::string, double> best;
  for (const loop::ExperimentState& x : all.state().experiments) {
    double& share = best[x.family];
    share = std::max(share, all.hypothesis(x.hypothesis).predicted_gain);
  }
  double hours = 0;
  for (const loop::FamilyState& family : all.state().families) {
    if (!best.contains(family.name)) continue;
    hours += family.volume_accelerator_h_per_day * best[family.name];
  }
  return hours;
}

Parked parked_of(const loop::Experiments& experiments, const loop::ExperimentState& x) {
  return {experiments.comparison(x.id), std::exp(x.log_e), std::exp(x.log_e_none), loop::kForGood,
          loop::pairs_to_settle(x)};
}

Result<std::map<std::string, Parked>> parked(Context& context) {
  const Snapshot snapshot = TRY(take_snapshot(context));
  std::map<std::string, Parked> all;
  for (const loop::ExperimentState& x : snapshot.experiments.state().experiments) {
    if (x.parked) all.emplace(x.hypothesis, parked_of(snapshot.experiments, x));
  }
  return all;
}

}  // namespace amdahl::app
