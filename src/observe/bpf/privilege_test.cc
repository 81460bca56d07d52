#include "observe/bpf/privilege.h"

#include <gtest/gtest.h>

namespace amdahl::observe {
namespace {

constexpr const char* kAllUsers = "         0          0 4294967295\n";

TEST(Privilege, SaysWhatWouldHelp) {
  const struct {
    const char* capabilities;
    const char* users;
    bool is_root;
    const char* want;
  } cases[] = {
      {"0000000000000000", kAllUsers, false,
       "run as root, or give this program CAP_BPF and CAP_PERFMON"},
      {"0000008000000000", kAllUsers, false, "run as root, or give this program CAP_PERFMON"},
      {"0000004000000000", kAllUsers, false, "run as root, or give this program CAP_BPF"},
      {"00000000a80425fb", kAllUsers, true,  // Docker's default.
       "root lacks CAP_BPF and CAP_PERFMON here; start the container with --cap-add=BPF "
       "--cap-add=PERFMON"},
      {"000001ffffffffff", "         0      65534          1\n", true,
       "run it outside this user namespace (such as a rootless container): BPF programs cannot be "
       "loaded in it"},
      {"000001ffffffffff", kAllUsers, true,
       "the capabilities are present, so a policy forbids it (seccomp, lockdown, SELinux)"},
      {"0000000000200000", kAllUsers, false,  // CAP_SYS_ADMIN alone, as before Linux 5.8.
       "the capabilities are present, so a policy forbids it (seccomp, lockdown, SELinux)"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.want);
    const std::string status = std::string("Name:\tamdahl\nCapPrm:\t000001ffffffffff\nCapEff:\t") +
                               c.capabilities + "\nCapBnd:\t000001ffffffffff\n";
    EXPECT_EQ(remedy(privilege_of(status, c.users, c.is_root)), c.want);
  }
}

}  // namespace
}  // namespace amdahl::observe
