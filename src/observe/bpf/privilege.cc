#include "observe/bpf/privilege.h"

#include <charconv>
#include <cstdint>

#include <fmt/core.h>
#include <unistd.h>

#include "base/text.h"
#include "os/files.h"

namespace amdahl::observe {
namespace {

// As the kernel numbers them.
constexpr unsigned kSysAdmin = 21;
constexpr unsigned kPerfmon = 38;
constexpr unsigned kBpf = 39;

std::uint64_t effective(std::string_view status) {
  for (const std::string_view line : split(status, '\n')) {
    if (!line.starts_with("CapEff:")) continue;
    const std::string_view digits = trim(line.substr(7));
    std::uint64_t bits = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
    return bits;
  }
  return 0;
}

// "0 0 4294967295": every user is itself.
bool is_whole(std::string_view uid_map) {
  std::string words;
  for (const std::string_view word : split(trim(uid_map), ' ')) {
    if (!word.empty()) words += fmt::format("{} ", word);
  }
  return uid_map.empty() || words == "0 0 4294967295 ";
}

}  // namespace

Privilege privilege_of(std::string_view status, std::string_view uid_map, bool is_root) {
  const std::uint64_t held = effective(status);
  const auto has = [&](unsigned bit) { return ((held >> bit) & 1U) != 0; };
  return {is_root, has(kBpf) || has(kSysAdmin), has(kPerfmon) || has(kSysAdmin),
          !is_whole(uid_map)};
}

Privilege own_privilege() {
  const auto status = os::read_file("/proc/self/status");
  const auto map = os::read_file("/proc/self/uid_map");
  return privilege_of(status ? *status : "", map ? *map : "", ::geteuid() == 0);
}

std::string remedy(const Privilege& privilege) {
  if (privilege.in_namespace) {
    return "run it outside this user namespace (such as a rootless container): BPF programs cannot "
           "be loaded in it";
  }
  if (privilege.has_bpf && privilege.has_perfmon) {
    return "the capabilities are present, so a policy forbids it (seccomp, lockdown, SELinux)";
  }
  const std::string_view lacks = privilege.has_bpf       ? "CAP_PERFMON"
                                 : privilege.has_perfmon ? "CAP_BPF"
                                                         : "CAP_BPF and CAP_PERFMON";
  if (privilege.is_root) {
    return fmt::format(
        "root lacks {} here; start the container with --cap-add=BPF "
        "--cap-add=PERFMON",
        lacks);
  }
  return fmt::format("run as root, or give this program {}", lacks);
}

}  // namespace amdahl::observe
