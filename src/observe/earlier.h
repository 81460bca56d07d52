// earlier.h: sets aside results of earlier runs, so that no run can pass them off as its own.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace amdahl::observe {

// Moves the files that the list names and that nobody has written to since to a folder beside the
// list. What somebody else wrote stays. What a file was after the first run is kept there for good:
// a job that appends may have found some of it there.
void set_aside_earlier(const std::string& list);

// After the run: adds the files, as they are now, to the list, and puts back what the run has not
// written again.
Result<> list_results(const std::vector<std::string>& files, const std::string& list);

}  // namespace amdahl::observe
