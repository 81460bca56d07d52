// promote.h: the gate: packets, decisions, and what an approval does.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "model/hypothesis.h"

namespace amdahl::app {

// A policy decides under its own name, "policy:demo". Nothing means: a person must.
struct GatePolicy {
  std::string_view name;
  std::string_view does;
  std::optional<model::GateDecision> (*decide)(const model::GatePacket& packet);
  bool rolls_back;  // What a canary proposes to roll back.
};
std::span<const GatePolicy> gate_policies();
Result<const GatePolicy*> gate_policy(std::string_view name);  // Null for the empty name.

// What the person will see. `votes` are the panel's last.
Result<model::GatePacket> make_packet(Context& context, const ledger::Family& family,
                                      const model::Experiment& experiment,
                                      const model::Hypothesis& hypothesis,
                                      const model::Comparison& comparison,
                                      std::vector<model::Finding> votes);

// All that reached the gate, and what canaries propose to roll back.
struct GateList {
  std::vector<ledger::GateRow> rows;
  std::vector<ledger::CanaryRow> rollbacks;
};
Result<GateList> read_gate(Context& context);

// By experiment, hypothesis or a unique prefix of either; kNotFound lists what is pending.
Result<ledger::GateRow> find_gate(Context& context, const std::string& id);

// Records the decision, the verdict and, if approved, the moved baseline, in one transaction,
// and writes the overlay. kConflict if the baseline has moved since it was measured.
Result<std::string> decide(Context& context, const ledger::GateRow& gate,
                           const model::GateDecision& decision, std::int64_t fence = 0);

// Takes a promoted change out of the family's stack again; its verdict stays, its key stays used.
Result<std::string> roll_back(Context& context, const std::string& hypothesis,
                              const std::string& actor, const std::string& reason,
                              std::int64_t fence = 0);

// Frees the key of what has its verdict, so that a person may propose it again.
Result<> reopen(Context& context, const ledger::HypothesisRow& row, const std::string& actor,
                const std::string& reason);

}  // namespace amdahl::app
