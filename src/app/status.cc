#include "app/status.h"

namespace amdahl::app {

Result<Status> read_status(Context& context) {
  Status status{.snapshot = TRY(take_snapshot(context))};
  status.state_dir = context.config.state_dir;
  status.tallies = TRY(context.ledger->tallies());
  status.budgets = TRY(context.ledger->budgets());
  status.campaign = TRY(context.ledger->campaign());
  status.choice = TRY(context.ledger->choice());
  status.lease = TRY(context.ledger->lease());
  status.pending = TRY(context.ledger->gate("pending"));
  status.rollbacks = TRY(context.ledger->canaries_in(model::CanaryState::kRollbackProposed));
  return status;
}

}  // namespace amdahl::app
