// What the BPF collector costs a job, and what it costs others:
//   waits_bench [ROUNDS] [-- COMMAND...]
// The command (default: 50,000 round trips through pipes, the worst case) runs alone, beside a
// collector that follows nobody, and followed, turn by turn. What the kernel spends in the programs
// it measures itself, in one more run. Needs root.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <bpf/bpf.h>
#include <fmt/format.h>

#include "observe/bpf/collector.h"
#include "os/clock.h"
#include "timed_run.h"

namespace {

using namespace amdahl;
using observe::BpfCollector;

TimedRun run(const std::vector<std::string>& argv) {
  const TimedRun done = timed_run(argv);
  if (done.succeeded) return done;
  fmt::print(stderr, "waits_bench: {} failed\n", argv[0]);
  std::exit(3);
}

std::unique_ptr<BpfCollector> collector() {
  observe::CollectorOptions options;
  options.record = "/tmp/waits_bench.jsonl";
  auto started = BpfCollector::start(options, os::real_clock());
  if (!started) {
    fmt::print(stderr, "waits_bench: {}\n", started.error().text);
    std::exit(3);
  }
  return *std::move(started);
}

std::set<__u32> programs() {
  std::set<__u32> found;
  for (__u32 id = 0; bpf_prog_get_next_id(id, &id) == 0;) found.insert(id);
  return found;
}

struct Followed {
  TimedRun job;
  double collector_s = 0;
  double kernel_s = 0;  // 0: not measured.
  double calls = 0;
  double wakeups = 0;
};

// Only the programs that this collector brought.
void add_kernel_time(const std::set<__u32>& before, Followed& seen) {
  for (const __u32 id : programs()) {
    if (before.contains(id)) continue;
    const int file = bpf_prog_get_fd_by_id(id);
    bpf_prog_info info{};
    __u32 bytes = sizeof(info);
    if (file >= 0 && bpf_obj_get_info_by_fd(file, &info, &bytes) == 0) {
      seen.kernel_s += 1e-9 * static_cast<double>(info.run_time_ns);
      seen.calls += static_cast<double>(info.run_cnt);
      if (info.run_cnt > 0) {
        fmt::print("  {:<12} {:>9} calls of {:>4.0f} ns\n", info.name,
                   static_cast<std::uint64_t>(info.run_cnt),
                   static_cast<double>(info.run_time_ns) / static_cast<double>(info.run_cnt));
      }
    }
    if (file >= 0) ::close(file);
  }
}

Followed follow(const std::vector<std::string>& argv, bool measure_kernel) {
  Followed seen;
  const auto before = programs();
  const int stats = measure_kernel ? bpf_enable_stats(BPF_STATS_RUN_TIME) : -1;
  const auto own = collector();
  own->follow_children();
  seen.job = run(argv);
  if (measure_kernel) add_kernel_time(before, seen);
  const auto summary = own->stop();
  if (stats >= 0) ::close(stats);
  if (!summary) return seen;
  seen.collector_s = to_seconds(summary->collector_cpu);
  for (const auto& task : summary->tasks) seen.wakeups += static_cast<double>(task.wakeups);
  return seen;
}

TimedRun beside(const std::vector<std::string>& argv) {
  const auto own = collector();
  const TimedRun job = run(argv);
  (void)own->stop();
  return job;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

int main(int argc, char** argv) {
  int at = 1;
  int rounds = 5;
  if (at < argc && std::string(argv[at]) != "--") rounds = std::max(1, std::atoi(argv[at++]));
  std::vector<std::string> command;
  if (at < argc) command.assign(argv + at + 1, argv + argc);
  if (command.empty()) command = {TRUTH_PROGRAM, "pingpong", "50000"};
  run(command);  // Warms the page cache.
  std::vector<double> alone;
  std::vector<double> near;
  std::vector<double> followed;
  std::vector<double> near_ratio;
  std::vector<double> ratio;
  std::vector<double> own;
  for (int i = 0; i < rounds; ++i) {
    const double off = run(command).cpu_s;
    const double other = beside(command).cpu_s;
    const Followed seen = follow(command, false);
    alone.push_back(off);
    near.push_back(other);
    followed.push_back(seen.job.cpu_s);
    near_ratio.push_back(other / off);
    ratio.push_back(seen.job.cpu_s / off);
    own.push_back(seen.collector_s / off);
  }
  fmt::print("CPU seconds of the job, medians of {} rounds:\n", rounds);
  fmt::print("  alone {:.3f}, beside a collector {:.3f} ({:+.1f} %), followed {:.3f} ({:+.1f} %)\n",
             median(alone), median(near), 100 * (median(near_ratio) - 1), median(followed),
             100 * (median(ratio) - 1));
  fmt::print("  the collector's thread: {:.2f} % of the job's CPU time\n", 100 * median(own));
  fmt::print("the kernel's own measure of the programs, of all that the host does:\n");
  const Followed measured = follow(command, true);
  fmt::print("  {:.2f} % of the job's CPU time, {:.0f} wake-ups a second\n",
             100 * measured.kernel_s / measured.job.cpu_s, measured.wakeups / measured.job.wall_s);
  return 0;
}
