#include "launch/local/neighbours.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace amdahl::launch::local {
namespace {

// Reports 0 or the error, then keeps the slot busy. Returns only on failure.
int spin(int cpu, int tell) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(cpu), &set);
  const int error = ::sched_setaffinity(0, sizeof set, &set) == 0 ? 0 : errno;
  ::prctl(PR_SET_NAME, "amdahl-beside");
  if (::write(tell, &error, sizeof error) != sizeof error || error != 0) return 1;
  for (std::atomic<unsigned> turns{0};;) turns.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Result<Neighbours> Neighbours::on(const std::vector<int>& cpus) {
  Neighbours made;
  for (const int cpu : cpus) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return external("cannot make a pipe");
    const os::Fd hear{ends[0]};
    os::Fd tell{ends[1]};
    made.spinning_.push_back(TRY(Fork::start({}, [&] { return spin(cpu, tell.get()); })));
    tell = os::Fd{-1};
    int error = 0;
    ssize_t got = 0;
    while ((got = ::read(hear.get(), &error, sizeof error)) < 0 && errno == EINTR) {
    }
    if (got != sizeof error) return external(fmt::format("the load process on CPU {} died", cpu));
    if (error != 0) {
      return bad_input(fmt::format("cannot start a load process on CPU {}: {}", cpu,
                                   std::system_category().message(error)));
    }
  }
  return made;
}

bool Neighbours::all_there() {
  for (Fork& neighbour : spinning_) {
    if (neighbour.over()) return false;
  }
  return true;
}

}  // namespace amdahl::launch::local
