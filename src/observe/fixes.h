// fixes.h: fixes injected into a job's processes, and whether they did anything.
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

// Writes the hook and every fix of playbook/inject/, to be put first on PYTHONPATH, and the library
// with those for compiled programs.
Result<> write_hook(const std::string& folder);
inline constexpr std::string_view kPreloadLibrary = "libamdahl_fixes.so";

// Whether one of the fixes is in that library, which then is to be preloaded.
bool needs_preload(const std::map<std::string, std::string>& inject);

// All fixes, sorted; without those that only measure.
std::vector<std::string> fix_names();

// Whether the fix only removes a cause to measure its cost; never shipped.
bool is_ceiling(std::string_view fix);

// Environment that tells the hook which fixes to apply and where to report: <out_dir>/fixes/.
std::map<std::string, std::string> fix_variables(const std::map<std::string, std::string>& inject,
                                                 const std::string& out_dir);

// Fills `injected` from what the processes reported. A successful run in which a fix of its plan
// did nothing is marked: it is void as a measurement of that fix.
void take_engagements(const RunOrder& order, model::Receipt& receipt);

// Wall seconds that the first process of a run spent on installing its fixes, from their accounts
// in its folder: 0 if there are none. No job pays for it that has the change in its source.
double fixes_cost(const std::string& out_dir);

// Writes the files below the folder, which is created.
Result<> unpack(std::span<const Embedded> files, const std::string& folder);

}  // namespace amdahl::observe
