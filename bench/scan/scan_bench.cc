// scan_bench.cc: from accounting and long CSV to jobs ranked by waste, with what that cost.
//
// scan_bench [--threads N] [--top N] [--quiet] FILE...
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

#include "ingest/ingest.h"
#include "os/clock.h"

namespace {

using namespace amdahl;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

void print_top(const scan::FleetUsage& usage, std::size_t top) {
  std::vector<std::uint32_t> order(usage.jobs.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const std::size_t shown = std::min(top, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](std::uint32_t a, std::uint32_t b) {
                      const double x = scan::wasted(usage.jobs.split(a));
                      const double y = scan::wasted(usage.jobs.split(b));
                      return x != y ? x > y
                                    : usage.text(usage.jobs.id(a)) < usage.text(usage.jobs.id(b));
                    });
  for (std::size_t i = 0; i < shown; ++i) {
    const scan::FleetJob job = usage.jobs[order[i]];
    fmt::print("{} {:.6f} {:.6f} {:.6f} {:.6f}\n", usage.text(job.id),
               scan::wasted(job.split) / 3600, job.split.idle / 3600, job.split.low / 3600,
               job.split.productive / 3600);
  }
}

int run(const ingest::Options& options, std::size_t top) {
  const auto begin = std::chrono::steady_clock::now();
  const auto read = ingest::read_fleet(options, os::real_clock());
  if (!read) {
    fmt::print(stderr, "{}\n", read.error().text);
    return 1;
  }
  const scan::FleetUsage& usage = read->usage;
  print_top(usage, top);
  const scan::Split total = scan::total_of(usage.jobs);
  fmt::print("total {:.6f} unobserved {:.6f} idle {:.6f} low {:.6f} productive {:.6f}\n",
             total.allocated / 3600, total.unobserved / 3600, total.idle / 3600, total.low / 3600,
             total.productive / 3600);
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const double cpu = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  fmt::print(stderr,
             "{{\"threads\":{},\"jobs\":{},\"samples\":{},\"attributed\":{},\"wall_s\":{:.3f},"
             "\"cpu_s\":{:.3f},\"rss_mb\":{:.1f},\"window_start\":{},\"window_end\":{}}}\n",
             options.threads, usage.jobs.size(), usage.samples, usage.attributed, wall, cpu,
             static_cast<double>(used.ru_maxrss) / 1024,
             std::chrono::duration_cast<std::chrono::seconds>(usage.window.start).count(),
             std::chrono::duration_cast<std::chrono::seconds>(usage.window.end).count());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  ingest::Options options;
  options.idle_below = 0;
  std::size_t top = 20;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--threads" && i + 1 < argc) {
      options.threads = std::atoi(argv[++i]);
    } else if (word == "--top" && i + 1 < argc) {
      top = static_cast<std::size_t>(std::atoll(argv[++i]));
    } else {
      options.origins.push_back({.where = word, .time_zone = "UTC"});
    }
  }
  return run(options, top);
}
