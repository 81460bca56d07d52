// main.cc: plays seeds and says what went wrong: see --help.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "play.h"
#include "real_job.h"

namespace amdahl::adversary {
namespace {

constexpr const char* kHelp =
    "usage: adversary [--seeds N] [--from S] [--jobs J] [--list FILE] [--tune 1] [--again 1] "
    "[--seed "
    "S [--real 1]]\n"
    "\n"
    "  --seeds N    play so many seeds (60)\n"
    "  --from S     the first of them (1)\n"
    "  --list FILE  play the seeds of the file as well: lines of number | what it makes | why;\n"
    "               'number tune' is played as with --tune 1\n"
    "  --jobs J     so many at once (1)\n"
    "  --tune 1     with the settings of amdahl tune; 2: each seed is played both ways\n"
    "  --again 1    play each twice: another story is a violation\n"
    "  --seed S     play this one and print what was made and what happened\n"
    "  --real 1     with real workers and processes, as every 50th seed is anyway; 0: none is\n"
    "\n"
    "How far it is goes to standard error, and a run that is stopped says what it found so far.\n"
    "Exit 1 if a rule was broken or not all seeds were played.\n";

struct Options {
  std::uint64_t seeds = 60;
  std::uint64_t from = 1;
  std::uint64_t jobs = 1;
  std::uint64_t only = 0;
  std::uint64_t real = 2;  // 0 none, 1 all, else one in kRealOneIn.
  std::uint64_t tune = 0;  // 0 none, 1 all, else both.
  std::uint64_t again = 0;
  std::string list;
};

constexpr std::uint64_t kRealOneIn = 50;

bool is_real(const Options& options, std::uint64_t seed) {
  return options.real == 1 || (options.real > 1 && seed % kRealOneIn == 0);
}

// A seed, and words that must be in what it makes: a generator that was changed makes others.
struct Seed {
  std::uint64_t number = 0;
  std::string makes{};
  bool tune = false;
};

std::string name_of(const Seed& seed) {
  return fmt::format("{}{}", seed.number, seed.tune ? " tune" : "");
}

struct Total {
  std::map<std::string, int> violations;  // By class.
  std::map<std::string, int> honest;      // Honest wins of 10 % and more that count, by state.
  std::map<std::string, int> others;      // All other changes, by state.
  std::set<std::string> played;           // By name_of().
  int stories = 0;
  double cpu_s = 0;

  int broken() const {
    int all = 0;
    for (const auto& [kind, count] : violations) all += count;
    return all;
  }
  // "94 of 97 promoted (96.9 %)".
  std::string wins() const {
    int all = 0;
    for (const auto& [state, count] : honest) all += count;
    const auto promoted = honest.find("promoted");
    const int won = promoted == honest.end() ? 0 : promoted->second;
    return fmt::format("{} of {} promoted ({:.1f} %)", won, all, all ? 100.0 * won / all : 0.0);
  }
};

// As long for all: how soon a disk is full depends on the lengths of paths.
std::string scratch(std::uint64_t job = 0) {
  const bool shared = std::filesystem::exists("/dev/shm");
  return fmt::format("{}/amdahl-adversary-{:010}-{:03}", shared ? "/dev/shm" : "/tmp", ::getpid(),
                     job);
}

void print(const Story& story) {
  fmt::print("{}{}\n", story.made, story.told);
  for (const Ending& e : story.endings) {
    fmt::print("END {}{}: {}: {}\n", e.title, e.counts ? " (counts)" : "", e.state, e.because);
  }
  for (const std::string& v : story.violations) fmt::print("VIOLATION {}\n", v);
  fmt::print("{:.2f} s of CPU\n", story.cpu_s);
}

// One line a fact, so that a parent can read what its children found.
void report(const Seed& seed, const Story& story, std::FILE* out) {
  const std::string name = name_of(seed);
  for (std::string v : story.violations) {
    std::ranges::replace(v, '\n', ' ');
    fmt::print(out, "V\t{}\t{}\n", name, clip(v, 600));
  }
  for (const Ending& e : story.endings) {
    fmt::print(out, "{}\t{}\t{}\t{}\n", e.counts ? "H" : "O", name, e.state, e.title);
  }
  fmt::print(out, "S\t{}\t{}\n", name, story.cpu_s);
}

void take(const std::string& line, Total& total) {
  const auto fields = split(line, '\t');
  if (fields.size() < 3) return;
  const std::string third(fields[2]);
  if (fields[0] == "V") {
    ++total.violations[third.substr(0, third.find(':'))];
    fmt::print("seed {}: {}\n", fields[1], third);
  }
  if (fields[0] == "H") {
    ++total.honest[third];
    if (third != "promoted") fmt::print("seed {}: {}: {}\n", fields[1], third, fields[3]);
  }
  if (fields[0] == "O") ++total.others[third];
  if (fields[0] == "S") {
    ++total.stories;
    total.played.emplace(fields[1]);
    total.cpu_s += std::strtod(third.c_str(), nullptr);
  }
  std::fflush(stdout);
}

// Lines of "number | words | what went wrong once", or of "number tune | words | …".
std::vector<Seed> listed_in(const std::string& path) {
  std::vector<Seed> seeds;
  std::ifstream list(path);
  for (std::string line; std::getline(list, line);) {
    const auto fields = split(line, '|');
    const auto words = split(trim(fields.front()), ' ');
    const auto number = to_number<std::uint64_t>(words.front());
    const bool tune = words.size() == 2 && words[1] == "tune";
    if (!number || fields.size() < 2 || (words.size() > 1 && !tune)) continue;
    seeds.push_back({*number, std::string(trim(fields[1])), tune});
  }
  return seeds;
}

// A story can be replayed if it is the same each time, but for where it happened.
Story play_seed(const Seed& seed, const std::string& folder, bool real, bool again) {
  Story story = play(seed.number, folder, {real, seed.tune});
  if (again && !real && play(seed.number, folder, {real, seed.tune}).told != story.told) {
    story.violations.push_back("replay: another story came of the same seed");
  }
  if (story.made.find(seed.makes) == std::string::npos) {
    story.violations.push_back(fmt::format("stale: it no longer makes '{}'", seed.makes));
  }
  return story;
}

volatile std::sig_atomic_t stopped = 0;

void tell_progress(const Total& total, std::size_t seeds) {
  fmt::print(stderr, "{} of {} seeds: {} broke a rule; honest wins: {}\n", total.stories, seeds,
             total.broken(), total.wins());
}

// Whoever is stopped from outside ends its children and tells what they found so far.
void end_when_stopped() {
  struct sigaction action {};
  action.sa_handler = [](int) { stopped = 1; };  // Without SA_RESTART: the reader wakes up.
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

[[noreturn]] void play_share(const std::vector<Seed>& seeds, const Options& options,
                             std::uint64_t share, const std::string& folder, int to) {
  std::FILE* out = ::fdopen(to, "w");
  for (std::uint64_t i = share; i < seeds.size(); i += options.jobs) {
    const bool real = is_real(options, seeds[i].number);
    report(seeds[i], play_seed(seeds[i], folder, real, options.again == 1), out);
    std::fflush(out);
  }
  ::_exit(0);
}

// Every so manieth seed each; what they find is shown as it comes.
Total play_all(const std::vector<Seed>& seeds, const Options& options) {
  constexpr int kTellEvery = 20;
  int ends[2] = {};
  Total total;
  if (::pipe(ends) != 0) return total;
  std::map<pid_t, std::string> children;  // With the folder of each.
  for (std::uint64_t j = 0; j < options.jobs; ++j) {
    const std::string folder = scratch(j);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::close(ends[0]);
      play_share(seeds, options, j, folder, ends[1]);
    }
    if (pid > 0) children[pid] = folder;
  }
  end_when_stopped();
  ::close(ends[1]);
  std::FILE* in = ::fdopen(ends[0], "r");
  char* line = nullptr;
  std::size_t room = 0;
  while (!stopped && ::getline(&line, &room, in) > 0) {
    take(std::string(trim(line)), total);
    const bool whole = line[0] == 'S';
    if (whole && total.stories % kTellEvery == 0) tell_progress(total, seeds.size());
  }
  std::free(line);
  std::fclose(in);
  for (const auto& [pid, folder] : children) {
    if (stopped) ::kill(pid, SIGTERM);
    ::waitpid(pid, nullptr, 0);
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  return total;
}

std::string listed(const std::map<std::string, int>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name);
  }
  return text.empty() ? "none" : text;
}

std::vector<Seed> seeds_of(const Options& options) {
  std::vector<Seed> seeds = listed_in(options.list);
  for (std::uint64_t i = 0; i < options.seeds; ++i) {
    if (options.tune != 1) seeds.push_back({options.from + i, "", false});
    if (options.tune >= 1) seeds.push_back({options.from + i, "", true});
  }
  return seeds;
}

int run(const Options& options) {
  if (options.only > 0) {
    const Story story =
        play(options.only, scratch(), {is_real(options, options.only), options.tune == 1});
    print(story);
    return story.violations.empty() ? 0 : 1;
  }
  const std::vector<Seed> seeds = seeds_of(options);
  const Total total = play_all(seeds, options);
  fmt::print("{} of {} seeds, {:.2f} s of CPU each\n", total.stories, seeds.size(),
             total.cpu_s / std::max(1, total.stories));
  fmt::print("violations: {}\n", listed(total.violations));
  fmt::print("honest wins of 10 % and more: {}: {}\n", total.wins(), listed(total.honest));
  fmt::print("other changes: {}\n", listed(total.others));
  const auto missed = std::ranges::find_if(
      seeds, [&](const Seed& seed) { return !total.played.contains(name_of(seed)); });
  if (missed != seeds.end()) fmt::print("the first that was not played: {}\n", name_of(*missed));
  return total.violations.empty() && missed == seeds.end() ? 0 : 1;
}

}  // namespace
}  // namespace amdahl::adversary

int main(int argc, char** argv) {
  using namespace amdahl;
  if (argc > 2 && std::string_view(argv[1]) == "--act")
    return adversary::real_job({argv, argv + argc});
  adversary::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    std::uint64_t* const number = word == "--seeds"   ? &options.seeds
                                  : word == "--from"  ? &options.from
                                  : word == "--jobs"  ? &options.jobs
                                  : word == "--real"  ? &options.real
                                  : word == "--tune"  ? &options.tune
                                  : word == "--again" ? &options.again
                                  : word == "--seed"  ? &options.only
                                                      : nullptr;
    const auto given = to_number<std::uint64_t>(value);
    if (word == "--list" && !value.empty()) {
      options.list = value;
    } else if (number && given) {
      *number = *given;
    } else {
      fmt::print(stderr, "{}", adversary::kHelp);
      return word == "--help" ? 0 : 2;
    }
    ++i;
  }
  return adversary::run(options);
}
