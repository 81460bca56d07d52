// agent_door.h: what a model's change must be like before it may cost anything.
#pragma once

#include <string>

#include "app/context.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "model/change.h"
#include "model/spec.h"

namespace amdahl::app {

// Ok, or why the change is refused for nothing but its reading: a variable that loads code, a patch
// that touches what it may not or does not apply to the repo's commit, or a patch that could not be
// sandboxed here. The same for every way by which models propose.
Result<> check_agents_change(Context& context, const ledger::Family& family,
                             const model::Change& change);

// Ok if all its variables are knobs of the spec or known to tune and nothing else: what holds for
// answers that nobody reads before they are tested.
Result<> check_only_tunes(const model::Spec& spec, const model::Change& change);

// Ok, or why a model may not touch one of the patch's files (model/frozen.h), or one of its lines,
// which reports what the job did.
Result<> check_patch_paths(const model::Spec& spec, const std::string& patch);

}  // namespace amdahl::app
