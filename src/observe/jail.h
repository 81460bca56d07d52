// jail.h: a job that is ready to start, put into bubblewrap.
#pragma once

#include <map>
#include <string>

#include "observe/child.h"

namespace amdahl::observe {

// What a job in a jail may inherit: nothing that holds a key, leads to one, or is ours.
std::map<std::string, std::string> without_keys(const std::map<std::string, std::string>& env);

// The order has a jail, and the job its program. The out folder is writable. So is the state
// folder: it is kept between runs if the plan or an output names it ("{state}"), and empty in each
// run otherwise.
void put_in_jail(const RunOrder& order, Launchable& job);

}  // namespace amdahl::observe
