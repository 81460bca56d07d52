// cli.h: the command line: arguments in, exit code out.
#pragma once

#include <string>
#include <vector>

namespace amdahl::cli {

// Results on stdout, the rest on stderr. Exit codes: 0 done, 1 no, 2 wrong use, 3 failed,
// 4 budget exhausted, 5 another cycle holds the lease.
int run(const std::vector<std::string>& argv);

}  // namespace amdahl::cli
