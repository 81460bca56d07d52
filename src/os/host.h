// host.h: properties of this machine.
#pragma once

#include <string>
#include <vector>

namespace amdahl::os {

std::string host_name();
std::string boot_id();  // Changes with every boot; empty: unknown.
std::string user_name();
std::string cpu_model();
// CPUs in this process's affinity mask.
std::vector<int> affinity_cpus();
// CPUs that can all be busy at once: at most the whole cores of the cgroup's CPU quota, at least
// one. With a quota of 1.5 cores, a second busy CPU would be throttled together with the first.
std::vector<int> usable_cpus();
// `program` is a program on PATH, a shared library name, an absolute file path, or "cpu:a|b" (a
// CPU with one of these features).
bool can_use(const std::string& program);
std::string self_path();  // Path of this executable.
std::string random_hex(int digits);
// The variable's value, or `fallback` if unset or empty.
std::string env_or(const char* name, const std::string& fallback);

}  // namespace amdahl::os
