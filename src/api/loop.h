// loop.h: what the loop did, its state and its value, as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/canary.h"
#include "app/cycle.h"
#include "app/dreaming.h"
#include "app/promote.h"
#include "app/propose.h"
#include "app/roi.h"
#include "app/stack.h"
#include "app/status.h"
#include "app/work.h"
#include "base/json.h"
#include "base/result.h"

namespace amdahl::api {

Json cycle(const app::CycleSummary& summary);
Json work(const app::WorkSummary& summary);
Json status(const app::Status& status);
Json gate(const app::GateList& gate);
Json gate_item(const ledger::GateRow& row);
Json stacks(const std::vector<model::StackResult>& results);
Json canaries(const std::vector<app::CanaryView>& views);
Json roi(const app::Roi& roi);
Json dream(const app::DreamOutcome& outcome);
Json proposed(const model::Hypothesis& hypothesis);
Json parked(const app::Parked& parked);  // Part of other answers.
Json outcome(const std::string& said);   // The consequence of a decision, in words.

// The same read from the ledger, for any door.
Result<Json> status(app::Context& context);
Result<Json> gate(app::Context& context, int newest = 0);  // As app::read_gate.
Result<Json> gate_item(app::Context& context, const std::string& id);
Result<Json> stacks(app::Context& context);                                 // As last measured.
Result<Json> canaries(app::Context& context, const std::string& family);    // "": all.
Result<Json> roi(app::Context& context, std::optional<double> price = {});  // USD per hour.

// A person's decision. `who` and `reason` are stored in the ledger.
struct Decision {
  std::string id;  // Hypothesis or experiment id.
  std::string who;
  std::string reason;
  // At the gate: digest of the packet that was shown; kConflict if it has changed.
  std::string seen{};
};
Result<Json> approve(app::Context& context, const Decision& decision);
Result<Json> reject(app::Context& context, const Decision& decision);
Result<Json> roll_back(app::Context& context, const Decision& decision);
Result<Json> keep(app::Context& context, const Decision& decision);  // Ends the watch of a canary.
Result<Json> propose(app::Context& context, const std::string& family, const app::Idea& idea);
Result<model::Change> change_in(const Json& json);  // As in answers; the error names the field.

}  // namespace amdahl::api
