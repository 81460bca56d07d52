// change_key.h: keys by the effect of a change: the paths it names and the tree its patch makes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "model/hypothesis.h"

namespace amdahl::app {

// The effect of the patch on the repo's HEAD, on top of the patch `before` if both apply: both
// trees are built in a scratch index and compared without context. Nothing if git cannot apply it.
// Does not write into the repo.
std::optional<PatchEffect> effect_of(const std::string& repo, const std::string& before,
                                     const std::string& patch);

// The same on the family's baseline; git is asked once for each commit.
std::optional<PatchEffect> known_effect(Context& context, const ledger::Family& family,
                                        const std::string& patch);

// Sets key and id of the hypothesis by its effect on the family's current baseline. An existing
// path has one spelling, relative to the workdir. kBadInput if it has no effect.
Result<> key_by_effect(Context& context, const ledger::Family& family,
                       model::Hypothesis& hypothesis);

// Drops those without effect.
std::vector<model::Hypothesis> keyed_by_effect(Context& context, const ledger::Family& family,
                                               std::vector<model::Hypothesis> ideas);

// The family's hypotheses with the same effect: those with the idea's key, and those whose change
// would get it today. The latter covers ledgers of older versions with other spellings, and
// commits that moved lines. Newest last.
Result<std::vector<ledger::HypothesisRow>> same_effect(Context& context,
                                                       const model::Hypothesis& idea);

// A refuted hypothesis whose whole change is a part of this one: it would be tested again under
// another key.
Result<std::optional<ledger::HypothesisRow>> refuted_part_of(Context& context,
                                                             const model::Hypothesis& idea);

// The one that holds its key and so blocks the idea, if any.
Result<std::optional<ledger::HypothesisRow>> holder_of(
    Context& context, const std::vector<ledger::HypothesisRow>& rows);

}  // namespace amdahl::app
