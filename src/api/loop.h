// loop.h: what the loop did, where it stands and what it is worth, as JSON.
#pragma once

#include <string>
#include <vector>

#include "app/canary.h"
#include "app/cycle.h"
#include "app/dreaming.h"
#include "app/roi.h"
#include "app/status.h"
#include "base/json.h"
#include "ledger/ledger.h"
#include "model/hypothesis.h"

namespace amdahl::api {

Json cycle(const app::CycleSummary& summary);
Json status(const app::Status& status);
Json gate(const std::vector<ledger::GateRow>& rows,
          const std::vector<ledger::CanaryRow>& rollbacks_proposed);
Json gate_item(const ledger::GateRow& row);
Json stacks(const std::vector<model::StackResult>& results);
Json canaries(const std::vector<app::CanaryView>& views);
Json roi(const app::Roi& roi);
Json dream(const app::DreamOutcome& outcome);
Json proposed(const model::Hypothesis& hypothesis);
Json parked(const app::Parked& parked);  // Part of other answers.
Json outcome(const std::string& said);  // Of a decision: what it led to, in words.

}  // namespace amdahl::api
