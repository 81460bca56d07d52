// privilege.h: what to do where BPF is not permitted, given this process's privileges.
#pragma once

#include <string>
#include <string_view>

namespace amdahl::observe {

struct Privilege {
  bool is_root = false;
  bool has_bpf = false;       // CAP_BPF, or CAP_SYS_ADMIN, which implies it.
  bool has_perfmon = false;   // CAP_PERFMON, or CAP_SYS_ADMIN.
  bool in_namespace = false;  // User namespace: its capabilities do not count outside.
};

// Parses the texts of /proc/self/status and /proc/self/uid_map.
Privilege privilege_of(std::string_view status, std::string_view uid_map, bool is_root);
Privilege own_privilege();

// What to do, as half a sentence.
std::string remedy(const Privilege& privilege);

}  // namespace amdahl::observe
