// hands.h: what the loop decides, written down in the ledger.
#pragma once

#include "app/context.h"
#include "app/reconcile.h"
#include "app/snapshot.h"
#include "loop/desk.h"

namespace amdahl::app {

class LedgerHands : public loop::Hands {
 public:
  // All of them must outlive it.
  LedgerHands(Context& context, const Snapshot& snapshot, std::int64_t fence, const Say& say)
      : context_{context}, snapshot_{snapshot}, fence_{fence}, say_{say} {}

  Result<> remember(std::span<const loop::Happening> together) override;
  void say(const std::string& sentence) override;
  Nanos now() override;
  std::string fresh_seed() override;

 private:
  Result<ledger::Draft> draft_of(const loop::Happening& happening);

  Context& context_;
  const Snapshot& snapshot_;
  std::int64_t fence_;
  const Say& say_;
};

}  // namespace amdahl::app
