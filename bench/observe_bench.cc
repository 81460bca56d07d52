// What watching a job costs it: a CPU burner alone and under the supervisor, turn by turn.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "model/receipt.h"
#include "observe/supervisor.h"
#include "os/clock.h"
#include "os/host.h"
#include "timed_run.h"

namespace {

using namespace amdahl;

// About a second a billion; every process of the job does the same amount.
void burn(double billions) {
  volatile unsigned long long x = 1;
  const auto rounds = static_cast<unsigned long long>(billions * 1e9 / 2);
  for (unsigned long long i = 0; i < rounds; ++i) x = x * 2862933555777941757ULL + i;
}

// The job: `processes` burners, as many as a loader's workers would be.
int job(int processes, double billions) {
  for (int i = 1; i < processes; ++i) {
    if (::fork() == 0) {
      burn(billions / processes);
      ::_exit(0);
    }
  }
  burn(billions / processes);
  while (::wait(nullptr) > 0) {
  }
  return 0;
}

struct Run {
  double wall_s = 0;
  double cpu_s = 0;
  double observer_s = 0;
};

Run watched(const std::vector<std::string>& argv, const std::string& folder) {
  observe::RunOrder order;
  order.id = "bench";
  order.family = "bench";
  order.plan.argv = argv;
  order.plan.workdir = folder;
  order.out_dir = folder + "/out";
  const auto receipt = observe::supervise(order, os::real_clock());
  if (!receipt) {
    std::fprintf(stderr, "%s\n", receipt.error().text.c_str());
    std::exit(3);
  }
  return {to_seconds(receipt->wall), to_seconds(receipt->cpu_user + receipt->cpu_system),
          to_seconds(receipt->observer_cpu)};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "--job") return job(std::atoi(argv[2]), std::atof(argv[3]));
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 3;
  const std::string billions = argc > 2 ? argv[2] : "5";
  const std::string folder =
      std::filesystem::temp_directory_path().string() + "/observe_bench_" + os::random_hex(8);
  std::filesystem::create_directories(folder);
  bool fine = true;
  for (const char* processes : {"1", "8"}) {
    const std::vector<std::string> command{os::self_path(), "--job", processes, billions};
    std::vector<double> ratios;
    std::vector<double> shares;
    for (int i = 0; i < rounds; ++i) {
      const bool watched_first = i % 2 != 0;
      Run under = watched_first ? watched(command, folder) : Run{};
      const TimedRun plain = timed_run(command);
      if (!watched_first) under = watched(command, folder);
      ratios.push_back(under.cpu_s / plain.cpu_s);
      shares.push_back(under.observer_s / under.cpu_s);
      std::printf("%s processes, round %d: alone %.2f s CPU, watched %.2f s, observer %.2f ms\n",
                  processes, i + 1, plain.cpu_s, under.cpu_s, 1000 * under.observer_s);
    }
    const double worst = *std::max_element(shares.begin(), shares.end());
    std::printf(
        "%s processes: observer/job CPU %.3f %% (median of %d, worst %.3f %%), "
        "job CPU watched/alone %.3f\n",
        processes, 100 * median(shares), rounds, 100 * worst, median(ratios));
    fine = fine && worst < 0.01;
  }
  std::filesystem::remove_all(folder);
  std::printf(fine ? "below 1 %%: ok\n" : "NOT below 1 %%\n");
  return fine ? 0 : 1;
}
