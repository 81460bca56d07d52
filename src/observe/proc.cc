#include "observe/proc.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <limits>
#include <vector>

#include <unistd.h>

#include "base/text.h"
#include "os/files.h"

namespace amdahl::observe {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr double kShortest = 0.2;  // Seconds.

double number_or_nan(std::string_view text) { return to_number<double>(text).value_or(kNan); }

}  // namespace

std::vector<std::string_view> words_in(std::string_view line) {
  std::vector<std::string_view> found;
  for (const std::string_view word : split(line, ' ')) {
    if (!word.empty()) found.push_back(word);
  }
  return found;
}

namespace {

// The CPU time of a whole process in nanoseconds: the kernel's process clock of another process
// (see clock_getcpuclockid(3)). /proc has it only in ticks of 10 ms.
std::optional<Nanos> process_clock(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid, &clock) != 0) return std::nullopt;
  if (::clock_gettime(clock, &time) != 0) return std::nullopt;
  return std::chrono::seconds(time.tv_sec) + Nanos(time.tv_nsec);
}

Nanos from_ticks(std::int64_t ticks) {
  static const std::int64_t a_second = ::sysconf(_SC_CLK_TCK);
  return Nanos(ticks * (1'000'000'000 / a_second));
}

// "cpu user nice system idle iowait irq softirq steal ...": old kernels have fewer columns.
void take_cpu_line(std::string_view line, HostCounters& host) {
  const auto columns = words_in(line);
  if (columns.size() < 5) return;
  std::array<double, 9> ticks{};
  double total = 0;
  for (std::size_t i = 1; i < std::min<std::size_t>(columns.size(), 9); ++i) {
    ticks[i] = number_or_nan(columns[i]);
    total += ticks[i];
  }
  host.busy_ticks = ticks[1] + ticks[2] + ticks[3] + ticks[6] + ticks[7];
  host.steal_ticks = ticks[8];
  host.total_ticks = total;
}

void take_stat(const std::string& text, HostCounters& host) {
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("cpu ")) take_cpu_line(line, host);
    if (line.starts_with("procs_running ")) host.runnable = number_or_nan(line.substr(14));
  }
}

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=9340201".
void take_pressure(const std::string& text, HostCounters& host) {
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t at = line.find("total=");
    if (line.starts_with("some ") && at != line.npos) {
      host.waited_us = number_or_nan(trim(line.substr(at + 6)));
    }
  }
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view line) {
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (open == line.npos || close == line.npos || close < open) return std::nullopt;
  const auto pid = to_number<pid_t>(trim(line.substr(0, open)));
  const auto rest = words_in(trim(line.substr(close + 1)));
  // rest[0] is the state, which proc(5) calls field 3.
  if (!pid || rest.size() < 22 || rest[0].size() != 1) return std::nullopt;
  const auto field = [&](std::size_t n) {
    return to_number<std::int64_t>(rest[n - 3]).value_or(0);
  };
  ProcessStat stat;
  stat.pid = *pid;
  stat.state = rest[0][0];
  stat.parent = static_cast<pid_t>(field(4));
  stat.group = static_cast<pid_t>(field(5));
  stat.session = static_cast<pid_t>(field(6));
  stat.user_ticks = field(14);
  stat.system_ticks = field(15);
  stat.reaped_ticks = field(16) + field(17);
  stat.threads = field(20);
  stat.start_ticks = field(22);
  stat.resident_pages = field(24);
  return stat;
}

Nanos cpu_time(const ProcessStat& stat, bool exact) {
  const auto clock = exact ? process_clock(stat.pid) : std::nullopt;
  return clock.value_or(from_ticks(stat.user_ticks + stat.system_ticks)) +
         from_ticks(stat.reaped_ticks);
}

HostCounters read_host(const std::string& proc_root) {
  HostCounters host{kNan, kNan, kNan, kNan, kNan, kNan};
  if (const auto text = os::read_file(proc_root + "/stat")) take_stat(*text, host);
  if (const auto text = os::read_file(proc_root + "/loadavg")) {
    host.load1 = number_or_nan(split(*text, ' ').front());
  }
  if (const auto text = os::read_file(proc_root + "/pressure/cpu")) take_pressure(*text, host);
  return host;
}

NoiseMeter::NoiseMeter(std::string proc_root)
    : root_{std::move(proc_root)}, first_{read_host(root_)}, last_{first_} {}

void NoiseMeter::sample() {
  last_ = read_host(root_);
  load_sum_ += last_.load1;
  // The reader itself is running.
  runnable_sum_ += std::max(0.0, last_.runnable - 1);
  if (std::isnan(last_.runnable)) runnable_sum_ = kNan;
  ++samples_;
}

model::HostNoise NoiseMeter::finish(Nanos ours, Nanos wall) {
  sample();
  const double seconds = to_seconds(wall);
  const double ticks_a_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const double busy = (last_.busy_ticks - first_.busy_ticks) / ticks_a_second;
  model::HostNoise noise{kNan, kNan, kNan, kNan, kNan};
  noise.load1 = load_sum_ / samples_;
  noise.run_queue = runnable_sum_ / samples_;
  if (seconds <= 0) return noise;
  // The kernel counts whole ticks: over a shorter time the count is meaningless.
  const double foreign = seconds < kShortest ? kNan : (busy - to_seconds(ours)) / seconds;
  const double cores = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  noise.foreign_cpu_cores = std::isnan(foreign) ? kNan : std::clamp(foreign, 0.0, cores);
  const double total = last_.total_ticks - first_.total_ticks;
  if (total > 0) noise.steal_share = (last_.steal_ticks - first_.steal_ticks) / total;
  const double waited = (last_.waited_us - first_.waited_us) / 1e6 / seconds;
  noise.psi_cpu_some = std::isnan(waited) ? kNan : std::clamp(waited, 0.0, 1.0);
  return noise;
}

}  // namespace amdahl::observe
