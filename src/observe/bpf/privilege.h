// privilege.h: what to do where the kernel permits no BPF, by what this process may do.
#pragma once

#include <string>
#include <string_view>

namespace amdahl::observe {

struct Privilege {
  bool is_root = false;
  bool has_bpf = false;       // CAP_BPF, or CAP_SYS_ADMIN, which holds both.
  bool has_perfmon = false;   // CAP_PERFMON, or the same.
  bool in_namespace = false;  // Of users: what is held there counts for nothing outside of it.
};

// From the texts of /proc/self/status and /proc/self/uid_map.
Privilege privilege_of(std::string_view status, std::string_view uid_map, bool is_root);
Privilege own_privilege();

// What would help, in half a sentence.
std::string remedy(const Privilege& privilege);

}  // namespace amdahl::observe
