// Runs the real program, cold, on idle ledgers of growing length: status, and a cycle with nothing
// to do; and on the shortest of them once more, shared on a PostgreSQL server, with a replica.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "ledger/event.h"
#include "ledger/ledger.h"
#include "ledger/postgres/testing/server.h"
#include "ledger_builder.h"
#include "os/clock.h"
#include "os/host.h"
#include "timed_run.h"

namespace {

using namespace amdahl;

// Of one verb on one ledger, in milliseconds.
struct Times {
  std::vector<double> wall;
  std::vector<double> cpu;
};

struct Bed {
  std::string folder;
  std::string url;  // Of a shared ledger.
  int hypotheses = 0;
  std::int64_t events = 0;
  Times status;
  Times cycle;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// One cold process, from fork to exit; what it prints goes to a file for people to look at.
Result<> run_once(const std::string& program, const Bed& bed, const std::string& verb,
                  Times& times) {
  const std::string output = bed.folder + "/" + verb + ".out";
  const std::vector<std::string> argv{program,   "--config", bed.folder + "/config.toml",
                                      "--state", bed.folder, verb};
  const TimedRun done = timed_run(argv, output);
  times.wall.push_back(1e3 * done.wall_s);
  times.cpu.push_back(1e3 * done.cpu_s);
  if (done.succeeded) return Ok{};
  return external(fmt::format("{} failed: see {}", join(argv, " "), output));
}

Result<std::int64_t> count_events(const Bed& bed) {
  if (!bed.url.empty()) return TRY(ledger::server_state({bed.url, ""})).events;
  const auto opened = ledger::open_sqlite(bed.folder + "/ledger.db", {.create = false});
  if (!opened) return opened.error();
  return TRY((*opened)->events("", 0, 1)).at(0).seq;
}

Result<Bed> make_bed(const std::filesystem::path& folder, int hypotheses) {
  Bed bed;
  bed.folder = (folder / fmt::to_string(hypotheses)).string();
  bed.hypotheses = hypotheses;
  if (!std::filesystem::exists(bed.folder + "/ledger.db")) {
    bench::History history;
    history.hypotheses = hypotheses;
    TRY(bench::build_idle_ledger(bed.folder, history));
  }
  bed.events = TRY(count_events(bed));
  // A file of our own, so that nobody's settings (a policy, a budget) give the cycle work.
  std::ofstream(bed.folder + "/config.toml") << "[dream]\nevery = 0\n";
  return bed;
}

// The same state with its ledger on a server. The first command of the program makes the replica.
Result<Bed> make_shared_bed(const Bed& like, const ledger::postgres::TestServer& server) {
  Bed bed;
  bed.folder = like.folder + "-shared";
  bed.url = server.url("idle");
  bed.hypotheses = like.hypotheses;
  std::filesystem::remove_all(bed.folder);
  std::filesystem::copy(like.folder, bed.folder, std::filesystem::copy_options::recursive);
  for (const char* end : {"", "-wal", "-shm"}) {
    std::filesystem::remove(bed.folder + "/ledger.db" + end);
  }
  {
    const auto from = TRY(ledger::open_sqlite(like.folder + "/ledger.db", {.create = false}));
    const auto to = TRY(ledger::open_postgres({bed.url, bed.folder + "/copy.db"}));
    TRY(ledger::copy_events(*from, *to));
  }
  bed.events = TRY(count_events(bed));
  std::ofstream(bed.folder + "/config.toml")
      << "[dream]\nevery = 0\n[ledger]\nurl = \"" << bed.url << "\"\n";
  return bed;
}

// Ledgers take turns, so that a machine that gets busy does so for all of them.
Result<> measure(const std::string& program, std::vector<Bed>& beds, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    for (Bed& bed : beds) {
      TRY(run_once(program, bed, "status", bed.status));
      TRY(run_once(program, bed, "cycle", bed.cycle));
    }
  }
  for (const Bed& bed : beds) {
    const std::int64_t added = TRY(count_events(bed)) - bed.events;
    if (added == 0) continue;
    return external(fmt::format("{}: not idle: {} new events", bed.folder, added));
  }
  return Ok{};
}

void print_table(const std::vector<Bed>& beds) {
  fmt::print("{:>10} {:>8} {:>8}", "hypotheses", "events", "ledger");
  for (const char* verb : {"status", "cycle"}) {
    fmt::print(" | {:>6} {:>6} {:>6} {:>6}", verb, "most", "CPU", "ratio");
  }
  fmt::print("\n");
  for (const Bed& bed : beds) {
    fmt::print("{:>10} {:>8} {:>8}", bed.hypotheses, bed.events,
               bed.url.empty() ? "file" : "server");
    for (const auto verb : {&Bed::status, &Bed::cycle}) {
      const Times& times = bed.*verb;
      fmt::print(" | {:>6.1f} {:>6.1f} {:>6.1f} {:>6.2f}", median(times.wall),
                 std::ranges::max(times.wall), median(times.cpu),
                 median(times.wall) / median((beds.front().*verb).wall));
    }
    fmt::print("\n");
  }
}

Result<> compare_lengths(const std::string& program, const std::filesystem::path& folder, int most,
                         int rounds) {
  std::vector<Bed> beds;
  for (int hypotheses = 1000; hypotheses <= most; hypotheses *= 10) {
    beds.push_back(TRY(make_bed(folder, hypotheses)));
  }
  const ledger::postgres::TestServer server{std::vector<std::string>{}};  // Commits are flushed.
  if (server.runs()) {
    beds.push_back(TRY(make_shared_bed(beds.front(), server)));
    Times first;
    TRY(run_once(program, beds.back(), "status", first));
  } else {
    fmt::print("no shared ledger: {}\n", server.reason());
  }
  TRY(measure(program, beds, rounds));
  print_table(beds);
  return Ok{};
}

}  // namespace

// idle_bench [MOST_HYPOTHESES] [FOLDER] [PROGRAM] [ROUNDS]; a ledger found in FOLDER is used again.
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
  const int rounds = std::max(1, number(3, 15));
  fmt::print("{}: cold processes, median of {}, milliseconds; ratio to the shortest ledger\n",
             program, rounds);
  const auto done = compare_lengths(program, folder, most, rounds);
  if (!done) fmt::print(stderr, "{}\n", done.error().text);
  if (!keep && done) std::filesystem::remove_all(folder);
  return done ? 0 : 1;
}
