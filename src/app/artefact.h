// artefact.h: what a promotion or a rollback hands to deployment: a branch, a call of a hook.
#pragma once

#include <string>

#include "app/context.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "model/hypothesis.h"

namespace amdahl::app {

// A branch of the family's repository with one commit on top of HEAD: the patches of the stack and
// the overlay (amdahl/FAMILY.toml). Its message has the claim, the votes, the decision and how to
// roll back. The user's checkout and index are not touched. Returns the branch's name,
// "PREFIXFAMILY/HYPOTHESIS"; kConflict if it is there already.
Result<std::string> write_branch(Context& context, const ledger::GateRow& gate,
                                 const model::GateDecision& decision, const std::string& prefix);

// Writes the branch and calls the hook that [gate] configures, after a decision. A failure does not
// undo the promotion: returns a sentence on what was done or what failed; empty if neither is
// configured. The hook
// runs detached, with the facts in the file named in AMDAHL_PROMOTION (docs/format/promotion.md).
std::string deploy(Context& context, const ledger::GateRow& gate,
                   const model::GateDecision& decision, const std::string& overlay);
std::string deploy_rollback(Context& context, const model::Hypothesis& hypothesis,
                            const std::string& actor, const std::string& reason,
                            const std::string& overlay);

}  // namespace amdahl::app
