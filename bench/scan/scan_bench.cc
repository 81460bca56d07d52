// scan_bench.cc: from accounting and long CSV to jobs ranked by waste, with what that cost.
//
// scan_bench [--threads N] [--top N] [--quiet] FILE...
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "scan/drive.h"
#include "scan/fold.h"

namespace {

using namespace amdahl;

class FdStream final : public scan::ByteStream {
 public:
  explicit FdStream(int fd) : fd_{fd} {}
  ~FdStream() override { ::close(fd_); }
  Result<std::size_t> read(std::span<char> into) override {
    const ssize_t got = ::read(fd_, into.data(), into.size());
    if (got < 0) return external(std::strerror(errno));
    return static_cast<std::size_t>(got);
  }

 private:
  int fd_;
};

scan::Input input_of(const std::string& path) {
  scan::Input input;
  input.name = path;
  input.open = [path]() -> Result<std::unique_ptr<scan::ByteStream>> {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return external(path + " cannot be opened");
    return Result<std::unique_ptr<scan::ByteStream>>(std::make_unique<FdStream>(fd));
  };
  return input;
}

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

int run(const std::vector<scan::Input>& inputs, int threads, std::size_t top) {
  const auto begin = std::chrono::steady_clock::now();
  scan::Fold fold({.idle_below = 0});
  const auto reads = scan::drive(inputs, fold, {.threads = threads});
  if (!reads) return 1;
  for (const scan::InputRead& read : *reads) {
    if (read.error.empty()) continue;
    fmt::print(stderr, "{}: {}\n", read.name, read.error);
    return 1;
  }
  const scan::FleetUsage usage = std::move(fold).finish();
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
             threads, usage.jobs.size(), usage.samples, usage.attributed, wall, cpu,
             static_cast<double>(used.ru_maxrss) / 1024,
             std::chrono::duration_cast<std::chrono::seconds>(usage.window.start).count(),
             std::chrono::duration_cast<std::chrono::seconds>(usage.window.end).count());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int threads = 1;
  std::size_t top = 20;
  std::vector<scan::Input> inputs;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--threads" && i + 1 < argc) {
      threads = std::atoi(argv[++i]);
    } else if (word == "--top" && i + 1 < argc) {
      top = static_cast<std::size_t>(std::atoll(argv[++i]));
    } else {
      inputs.push_back(input_of(word));
    }
  }
  return run(inputs, threads, top);
}
