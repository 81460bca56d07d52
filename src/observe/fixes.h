// fixes.h: what is injected into a job's Python processes, and whether it did anything there.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/embedded.h"
#include "base/result.h"
#include "model/receipt.h"
#include "observe/supervisor.h"

namespace amdahl::observe {

// The hook with every fix of playbook/inject/ beside it, for the front of PYTHONPATH.
Result<> write_hook(const std::string& folder);

// The fixes that there are, sorted; without those that only measure.
std::vector<std::string> fix_names();

// Whether the fix takes a cause out of a job to measure what it costs, though nobody would ship it.
bool is_ceiling(std::string_view fix);

// What tells the hook which fixes to apply, and where to say what they did: <out_dir>/fixes/.
std::map<std::string, std::string> fix_variables(const std::map<std::string, std::string>& inject,
                                                 const std::string& out_dir);

// Fills in `injected` from what the processes left. A run that ended well although a fix of its
// plan did nothing is marked: as a measurement of that fix it is void.
void take_engagements(const RunOrder& order, model::Receipt& receipt);

// Files under the folder, which is made.
Result<> unpack(std::span<const Embedded> files, const std::string& folder);

}  // namespace amdahl::observe
