// earlier.h: removes results of earlier runs, so that no run can pass them off as its own.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace amdahl::observe {

// Removes the files that the list names and that nobody has written to since. What somebody else
// wrote stays.
void remove_earlier(const std::string& list);

// Adds the files, as they are now, to the list.
Result<> list_results(const std::vector<std::string>& files, const std::string& list);

}  // namespace amdahl::observe
