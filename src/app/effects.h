// effects.h: stores the loop's decisions in the ledger.
#pragma once

#include <optional>

#include "app/context.h"
#include "app/reconcile.h"
#include "app/snapshot.h"
#include "loop/effects.h"

namespace amdahl::app {

class LedgerEffects : public loop::Effects {
 public:
  // All arguments must outlive it. Without `say` it is silent.
  LedgerEffects(Context& context, const Snapshot& snapshot, std::int64_t fence, const Say& say)
      : context_{context}, snapshot_{snapshot}, fence_{fence}, say_{say} {}

  Result<> remember(std::string_view actor, std::span<const loop::LoopEvent> together) override;
  void say(const std::string& sentence) override;
  Nanos now() override;
  std::string fresh_seed() override;

 private:
  Result<ledger::Draft> lesson_from(const model::Verdict& verdict);

  Context& context_;
  const Snapshot& snapshot_;
  std::int64_t fence_;
  const Say& say_;
};

// For callers that store a verdict together with its cause.
ledger::Draft draft_of(const loop::Judged& judged, std::string_view actor);

}  // namespace amdahl::app
