// agent_settings.h: settings that a model may propose.
#pragma once

#include <string>

#include "base/result.h"
#include "model/change.h"
#include "model/spec.h"

namespace amdahl::app {

// Ok, or why the change's variables, flags, configuration or accelerators are refused: they load
// code, replace the program, show a variable of the loop, lead to files or servers that the spec
// does not name, or ask for more than the job has.
Result<> check_agents_settings(const model::Spec& spec, const model::Change& change);

// Whether a variable of the job is a knob of the spec.
bool is_knob_variable(const model::Spec& spec, const std::string& name);

}  // namespace amdahl::app
