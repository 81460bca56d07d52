// agent_door.h: what a change from a model must satisfy before it may cost anything.
#pragma once

#include <string>

#include "app/context.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "model/change.h"
#include "model/spec.h"

namespace amdahl::app {

// Ok, or why the change is refused without a run: a variable that loads code, a patch that touches
// frozen files or does not apply to the repo's commit, or a patch that cannot be sandboxed here.
// The same rules hold for every way in which models propose.
Result<> check_agents_change(Context& context, const ledger::Family& family,
                             const model::Change& change);

// Ok if all its variables are knobs of the spec or known to do nothing but tune. This holds for
// answers that are tested before a person has read them.
Result<> check_only_tunes(const model::Spec& spec, const model::Change& change);

// Ok, or why a model may not touch one of the patch's files (model/frozen.h) or one of its lines
// (it reports what the job did).
Result<> check_patch_paths(const model::Spec& spec, const std::string& patch);

}  // namespace amdahl::app
