// host.h: which machine this is.
#pragma once

#include <string>
#include <vector>

namespace amdahl::os {

std::string host_name();
std::string boot_id();  // Changes with every boot; empty if the kernel does not say.
std::string user_name();
std::string cpu_model();
// By this process's affinity.
std::vector<int> affinity_cpus();
// Those that can all be busy at once: no more than the whole cores of its control group's CPU
// quota, but one at least. With a quota of 1.5 cores a second busy CPU would halt the first.
std::vector<int> usable_cpus();
// A program on PATH, a shared library by its name, a file by its absolute path, or "cpu:a|b": a CPU
// that has one of these features.
bool can_use(const std::string& program);
std::string self_path();  // This program's file.
std::string random_hex(int digits);
// The variable's value; `fallback` if it is unset or empty.
std::string env_or(const char* name, const std::string& fallback);

}  // namespace amdahl::os
