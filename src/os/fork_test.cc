#include "os/fork.h"

#include <cerrno>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace amdahl::os {
namespace {

using namespace std::chrono_literals;

// What `body` returns as a user who may have `most` processes: root is above such limits.
int as_user_with_processes(rlim_t most, int (*body)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{most, most};
    // A number that nobody has, so that nobody else's processes count.
    if (::setrlimit(RLIMIT_NPROC, &limit) != 0 || ::setuid(54321) != 0) ::_exit(77);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class ForkTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::getuid() != 0) GTEST_SKIP() << "needs root, to become a user with a limit";
  }
};

TEST_F(ForkTest, AFullTableOfProcessesIsAskedAgain) {
  const int code = as_user_with_processes(2, [] {
    ::signal(SIGCHLD, SIG_IGN);  // So that an ended process makes room at once.
    if (::fork() == 0) {
      ::usleep(200'000);
      ::_exit(0);
    }
    if (::fork() != -1 || errno != EAGAIN) return 1;
    const pid_t pid = fork_with_retries();
    if (pid == 0) ::_exit(0);
    return pid > 0 ? 0 : 2;
  });
  EXPECT_EQ(code, 0);
}

TEST_F(ForkTest, PatienceEnds) {
  const int code = as_user_with_processes(1, [] {
    const pid_t pid = fork_with_retries(5ms);
    if (pid == 0) ::_exit(0);
    return pid == -1 && errno == EAGAIN ? 0 : 1;
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace amdahl::os
