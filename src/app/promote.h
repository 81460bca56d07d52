// promote.h: the gate: packets, decisions, and the effects of an approval.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "model/hypothesis.h"

namespace amdahl::app {

// A policy decides under its own name, "policy:demo". Nothing: a person must decide.
struct GatePolicy {
  std::string_view name;
  std::string_view does;
  std::optional<model::GateDecision> (*decide)(const model::GatePacket& packet);
  bool rolls_back;  // Carries out rollbacks that canaries propose.
};
Result<const GatePolicy*> gate_policy(std::string_view name);  // Null for an empty name.

// What the person will see. `votes` are the panel's last.
Result<model::GatePacket> make_packet(Context& context, const ledger::Family& family,
                                      const model::Experiment& experiment,
                                      const model::Hypothesis& hypothesis,
                                      const model::Comparison& comparison,
                                      std::vector<model::Finding> votes);

// Everything at the gate, and rollbacks that canaries propose.
struct GateList {
  std::vector<ledger::GateRow> rows;
  std::vector<ledger::CanaryRow> rollbacks;
};
// `newest`: at most so many that were decided, the last ones; 0: all. All that is pending.
Result<GateList> read_gate(Context& context, int newest = 0);

// By experiment, hypothesis or a unique prefix of either; kNotFound lists what is pending.
Result<ledger::GateRow> find_gate(Context& context, const std::string& id);

// Records the decision, the verdict and, if approved, the new baseline in one transaction, and
// writes the overlay. kConflict if the baseline has changed since it was measured.
Result<std::string> decide(Context& context, const ledger::GateRow& gate,
                           const model::GateDecision& decision, std::int64_t fence = 0);

// Removes a promoted change from the family's stack; its verdict stays, its key stays used.
Result<std::string> roll_back(Context& context, const std::string& hypothesis,
                              const std::string& actor, const std::string& reason,
                              std::int64_t fence = 0);

// Frees the key of a closed hypothesis, so that a person may propose it again.
Result<> reopen(Context& context, const ledger::HypothesisRow& row, const std::string& actor,
                const std::string& reason);

}  // namespace amdahl::app
