// change_key.h: keys by what a change does: the paths it names and the tree its patch makes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "model/hypothesis.h"

namespace amdahl::app {

// What the patch does to the repo's HEAD, on top of the patch `before` if both apply: the two trees
// are made in a scratch index and compared without context (model::describe_edits). Nothing if git
// cannot apply it. Writes nothing into the repo.
std::optional<std::string> edits_of(const std::string& repo, const std::string& before,
                                    const std::string& patch);

// Names the hypothesis by what it does to the family's present baseline: its key and its id. A path
// that exists has one spelling, relative to the workdir. kBadInput if it does nothing.
Result<> key_by_effect(const Context& context, const ledger::Family& family,
                       model::Hypothesis& hypothesis);

// Drops those that do nothing.
std::vector<model::Hypothesis> keyed_by_effect(const Context& context, const ledger::Family& family,
                                               std::vector<model::Hypothesis> ideas);

// The family's hypotheses of the same effect: those with the idea's key, and those whose change, as
// seen today, would get it. Ledgers of older versions, which spelled keys otherwise, and commits
// that moved lines are covered by the second. Newest last.
Result<std::vector<ledger::HypothesisRow>> same_effect(Context& context,
                                                       const model::Hypothesis& idea);

// Of these the one that holds its key and so keeps the idea from being tried, if any.
Result<std::optional<ledger::HypothesisRow>> holder_of(
    Context& context, const std::vector<ledger::HypothesisRow>& rows);

}  // namespace amdahl::app
