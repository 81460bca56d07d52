#include "observe/cgroup.h"

#include <array>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "observe/proc.h"
#include "os/files.h"

namespace amdahl::observe {
namespace {

std::string read_short(int file) {
  std::array<char, 4096> text{};
  const ssize_t length = ::pread(file, text.data(), text.size(), 0);
  return {text.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

}  // namespace

CgroupMeter::CgroupMeter(std::string proc_root)
    : proc_root_{std::move(proc_root)}, folder_{proc_root_ + "/self"} {
  if (const auto membership = os::read_file(folder_ + "/cgroup")) enter(*membership);
}

void CgroupMeter::follow(pid_t pid) {
  folder_ = fmt::format("{}/{}", proc_root_, pid);
  file_ = os::Fd{::open((folder_ + "/cgroup").c_str(), O_RDONLY | O_CLOEXEC)};
  sample();
}

// Version 1 shows the dead in the root group.
bool CgroupMeter::is_alive() const {
  const auto text = os::read_file(folder_ + "/stat");
  const auto stat = text ? parse_process_stat(*text) : std::nullopt;
  return stat && stat->state != 'Z' && stat->state != 'X';
}

void CgroupMeter::sample() {
  const std::string membership = read_short(file_.get());
  if (!membership.empty() && membership != membership_ && is_alive()) {
    leave();
    enter(membership);
    return;
  }
  if (const auto counters = os::cgroup_counters(limits_)) last_ = *counters;
}

void CgroupMeter::enter(const std::string& membership) {
  membership_ = membership;
  const auto mounts = os::read_file(proc_root_ + "/self/mountinfo");
  limits_ = mounts ? os::cgroup_limits(membership, *mounts) : os::CgroupLimits{};
  first_ = os::cgroup_counters(limits_).value_or(os::CgroupCounters{});
  last_ = first_;
}

void CgroupMeter::leave() {
  if (const auto counters = os::cgroup_counters(limits_)) last_ = *counters;
  use_.throttled += last_.throttled - first_.throttled;
  use_.throttled_periods += last_.throttled_periods - first_.throttled_periods;
  use_.memory_stalls += last_.memory_stalls - first_.memory_stalls;
  first_ = last_;
}

model::CgroupUse CgroupMeter::finish() {
  leave();
  use_.quota_cores = limits_.quota_cores;
  use_.memory_limit_bytes = limits_.memory_bytes;
  return use_;
}

}  // namespace amdahl::observe
