#include "world.h"

#include <algorithm>
#include <new>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "os/fd.h"

namespace amdahl::adversary {
namespace {

// A Monday at noon, when nobody is surprised by the day's end.
constexpr Nanos kStart = std::chrono::seconds(1'750'075'200);
constexpr Nanos kIdleStep = std::chrono::seconds(2);

}  // namespace

World* make_world(const std::string& folder) {
  const os::Fd file{::open((folder + "/world").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  struct stat info {};
  CHECK(::fstat(file.get(), &info) == 0);
  const bool fresh = info.st_size == 0;
  if (fresh) CHECK(::ftruncate(file.get(), sizeof(World)) == 0);
  void* memory = ::mmap(nullptr, sizeof(World), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  CHECK(memory != MAP_FAILED);
  return fresh ? new (memory) World : static_cast<World*>(memory);
}

Nanos VirtualClock::unix_time() { return kStart + Nanos(world_.now_ns + world_.stepped_ns); }

void VirtualClock::sleep(Nanos time) {
  ++world_.sleeps;
  if (on_sleep) on_sleep();
  const Nanos now(world_.now_ns);
  const Nanos end = next_end ? next_end() : Nanos::max();
  const Nanos wake = end == Nanos::max() ? std::max(time, kIdleStep) + now : end;
  world_.now_ns = std::max(now + time, wake).count();
}

}  // namespace amdahl::adversary
