// real_job.h: the scenario's job as a process of its own, which the real worker starts.
#pragma once

#include <string>
#include <vector>

namespace amdahl::adversary {

// `argv` is this program, "--act", the seed and the job's flags. Runs in the scenario's folder and
// does, in real time, what run_arm() makes up on virtual time. Returns the exit status.
int real_job(const std::vector<std::string>& argv);

}  // namespace amdahl::adversary
