// Runs the real program, cold, on idle ledgers of growing length: status, and a cycle with nothing
// to do.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/text.h"
#include "ledger/ledger.h"
#include "ledger_builder.h"
#include "os/clock.h"
#include "os/host.h"

namespace {

using namespace amdahl;

struct Times {
  double median_ms = 0;
  double most_ms = 0;
};

struct Row {
  int hypotheses = 0;
  std::int64_t events = 0;
  Times status;
  Times cycle;
};

// Milliseconds from fork to exit; what it prints goes to a file for people to look at.
Result<double> run_once(const std::vector<std::string>& argv, const std::string& output) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const Nanos start = os::real_clock().monotonic();
  const pid_t pid = ::fork();
  if (pid == 0) {
    const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    ::dup2(file, 1);
    ::dup2(file, 2);
    ::execv(words[0], words.data());
    ::_exit(127);
  }
  int status = 0;
  if (pid < 0 || ::waitpid(pid, &status, 0) != pid) return external("could not run " + argv[0]);
  const double took_ms = to_seconds(os::real_clock().monotonic() - start) * 1e3;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return external(fmt::format("{} failed: see {}", join(argv, " "), output));
  }
  return took_ms;
}

Result<Times> run_many(int times, const std::vector<std::string>& argv, const std::string& output) {
  std::vector<double> took;
  for (int i = 0; i < times; ++i) took.push_back(TRY(run_once(argv, output)));
  std::ranges::sort(took);
  return Times{took[took.size() / 2], took.back()};
}

Result<std::int64_t> count_events(const std::string& folder) {
  const auto opened = ledger::open_sqlite(folder + "/ledger.db", {.create = false});
  if (!opened) return opened.error();
  return TRY((*opened)->events("", 0, 1)).at(0).seq;
}

Result<Row> measure(const std::string& program, const std::string& folder, int hypotheses,
                    int times) {
  Row row;
  row.hypotheses = hypotheses;
  if (!std::filesystem::exists(folder + "/ledger.db")) {
    bench::History history;
    history.hypotheses = hypotheses;
    TRY(bench::build_idle_ledger(folder, history));
  }
  row.events = TRY(count_events(folder));
  // A file of our own, so that nobody's settings (a policy, a budget) give the cycle work.
  const std::string config = folder + "/config.toml";
  std::ofstream(config) << "[dream]\nevery = 0\n";
  const std::vector<std::string> head{program, "--config", config, "--state", folder};
  const auto verb = [&](const std::string& name) {
    std::vector<std::string> argv = head;
    argv.push_back(name);
    return run_many(times, argv, folder + "/" + name + ".out");
  };
  row.status = TRY(verb("status"));
  row.cycle = TRY(verb("cycle"));
  const std::int64_t after = TRY(count_events(folder));
  if (after != row.events) {
    return external(fmt::format("the cycles were not idle: {} new events", after - row.events));
  }
  return row;
}

void print_row(const Row& row, const Row& smallest) {
  fmt::print("{:>10} {:>9} {:>10.1f} {:>6.1f} {:>9.1f} {:>6.1f} {:>13.2f} {:>12.2f}\n",
             row.hypotheses, row.events, row.status.median_ms, row.status.most_ms,
             row.cycle.median_ms, row.cycle.most_ms,
             row.status.median_ms / smallest.status.median_ms,
             row.cycle.median_ms / smallest.cycle.median_ms);
  std::fflush(stdout);
}

}  // namespace

// idle_bench [MOST_HYPOTHESES] [FOLDER] [PROGRAM] [TIMES]; a ledger found in FOLDER is used again.
int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto number = [&](std::size_t at, int fallback) {
    return words.size() > at ? to_number<int>(words[at]).value_or(fallback) : fallback;
  };
  const int most = number(0, 100'000);
  const bool keep = words.size() > 1;
  const std::filesystem::path folder =
      keep ? std::filesystem::path(words[1])
           : std::filesystem::temp_directory_path() / ("idle_bench-" + os::random_hex(8));
  const std::filesystem::path beside =
      std::filesystem::path(os::self_path()).parent_path().parent_path() / "amdahl";
  const std::string program = words.size() > 2 ? words[2] : beside.string();
  fmt::print("{}: milliseconds of cold processes, {} each\n", program, number(3, 15));
  fmt::print("{:>10} {:>9} {:>10} {:>6} {:>9} {:>6} {:>13} {:>12}\n", "hypotheses", "events",
             "status ms", "most", "cycle ms", "most", "status ratio", "cycle ratio");
  Row smallest;
  int failures = 0;
  for (int hypotheses = 1000; hypotheses <= most; hypotheses *= 10) {
    const std::string place = (folder / fmt::to_string(hypotheses)).string();
    const auto row = measure(program, place, hypotheses, number(3, 15));
    if (!row) {
      fmt::print(stderr, "{}: {}\n", place, row.error().text);
      ++failures;
      continue;
    }
    if (smallest.hypotheses == 0) smallest = *row;
    print_row(*row, smallest);
  }
  if (!keep && failures == 0) std::filesystem::remove_all(folder);
  return failures == 0 ? 0 : 1;
}
