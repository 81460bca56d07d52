#include <cstddef>
#include <iterator>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "observe/supervisor.h"
#include "observe/testing.h"

namespace amdahl::observe {
namespace {

using namespace std::chrono_literals;

using UnkillableTest = InFolder;

// Time goes by faster, so that no one waits for a grace.
class FastClock : public os::Clock {
 public:
  Nanos monotonic() override { return kTimes * os::real_clock().monotonic(); }
  Nanos unix_time() override { return os::real_clock().unix_time(); }
  void sleep(Nanos time) override { os::real_clock().sleep(time / kTimes); }

 private:
  static constexpr int kTimes = 20;
};

// From here on kill(2) does nothing, as with processes that wait in the kernel.
void forbid_kill() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_kill, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(filter), filter};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) ::_exit(77);
}

TEST_F(UnkillableTest, AJobThatCannotBeKilledLeavesAReceiptThatSaysSo) {
  const pid_t child = ::fork();
  if (child == 0) {
    forbid_kill();
    FastClock clock;
    RunOrder made = shell("trap '' TERM; exec sleep 5");
    made.time_limit = 1s;
    const auto receipt = supervise(made, clock);
    const bool told = receipt && os::write_file(path("told"), receipt->reason);
    ::_exit(told && receipt->ending == model::Ending::kTimeLimit ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no seccomp here";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*os::read_file(path("told")),
            "over the time limit of 1.00 s; 1 process could not be killed");
}

}  // namespace
}  // namespace amdahl::observe
