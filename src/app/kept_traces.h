// kept_traces.h: profiles of traces and their differences, kept under a name for the dashboard.
#pragma once

#include <string>
#include <vector>

#include "app/config.h"
#include "base/json.h"
#include "base/result.h"

namespace amdahl::app {

// Stores the document of `amdahl profile --json` as traces/NAME.json of the state folder; one of
// the same name is replaced. A name has letters, digits, ".", "-" and "_".
Result<> keep_trace(const Config& config, const std::string& name, const Json& document);

std::vector<std::string> kept_traces(const Config& config);  // Names, sorted.

// kNotFound if there is none.
Result<Json> kept_trace(const Config& config, const std::string& name);

}  // namespace amdahl::app
