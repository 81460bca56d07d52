// main.cc: plays seeds and says what went wrong: see --help.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
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
    "usage: adversary [--seeds N] [--from S] [--jobs J] [--list FILE] [--seed S [--real 1]]\n"
    "\n"
    "  --seeds N    play so many seeds (60)\n"
    "  --from S     the first of them (1)\n"
    "  --list FILE  play the seeds of the file as well: lines of number | what it makes | why\n"
    "  --jobs J     so many at once (1)\n"
    "  --seed S     play this one and print what was made and what happened\n"
    "  --real 1     with real workers and processes, as every 50th seed is anyway; 0: none is\n"
    "\n"
    "Exit 1 if a rule was broken.\n";

struct Options {
  std::uint64_t seeds = 60;
  std::uint64_t from = 1;
  std::uint64_t jobs = 1;
  std::uint64_t only = 0;
  std::uint64_t real = 2;  // 0 none, 1 all, else one in kRealOneIn.
  std::string list;
};

constexpr std::uint64_t kRealOneIn = 50;

bool is_real(const Options& options, std::uint64_t seed) {
  return options.real == 1 || (options.real > 1 && seed % kRealOneIn == 0);
}

struct Total {
  std::map<std::string, int> violations;  // By class.
  std::map<std::string, int> honest;      // Honest wins of 10 % and more that count, by state.
  std::map<std::string, int> others;      // All other changes, by state.
  int stories = 0;
  double cpu_s = 0;
};

std::string scratch() {
  const bool shared = std::filesystem::exists("/dev/shm");
  return fmt::format("{}/amdahl-adversary-{}", shared ? "/dev/shm" : "/tmp", ::getpid());
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
void report(const Story& story, std::FILE* out) {
  for (std::string v : story.violations) {
    std::ranges::replace(v, '\n', ' ');
    fmt::print(out, "V\t{}\t{}\n", story.seed, clip(v, 600));
  }
  for (const Ending& e : story.endings) {
    fmt::print(out, "{}\t{}\t{}\t{}\n", e.counts ? "H" : "O", story.seed, e.state, e.title);
  }
  fmt::print(out, "S\t{}\t{}\n", story.seed, story.cpu_s);
}

void take(const std::string& line, Total& total) {
  const auto fields = split(line, '\t');
  if (fields.size() < 3) return;
  const std::string third(fields[2]);
  if (fields[0] == "V") {
    ++total.violations[third.substr(0, third.find(':'))];
    fmt::print("seed {}: {}\n", fields[1], third);
    std::fflush(stdout);
  }
  if (fields[0] == "H") {
    ++total.honest[third];
    if (third != "promoted") fmt::print("seed {}: {}: {}\n", fields[1], third, fields[3]);
  }
  if (fields[0] == "O") ++total.others[third];
  if (fields[0] == "S") {
    ++total.stories;
    total.cpu_s += std::strtod(third.c_str(), nullptr);
  }
}

// A seed, and words that must be in what it makes: a generator that was changed makes others.
struct Seed {
  std::uint64_t number = 0;
  std::string makes;
};

// Lines of "number | words | what went wrong once".
std::vector<Seed> listed_in(const std::string& path) {
  std::vector<Seed> seeds;
  std::ifstream list(path);
  for (std::string line; std::getline(list, line);) {
    const auto fields = split(line, '|');
    const auto number = to_number<std::uint64_t>(trim(fields.front()));
    if (number && fields.size() > 1) seeds.push_back({*number, std::string(trim(fields[1]))});
  }
  return seeds;
}

Story play_seed(const Seed& seed, const std::string& folder, bool real) {
  Story story = play(seed.number, folder, real);
  if (story.made.find(seed.makes) == std::string::npos) {
    story.violations.push_back(fmt::format("stale: it no longer makes '{}'", seed.makes));
  }
  return story;
}

// Every so manieth seed each; what they find is shown as it comes.
Total play_all(const std::vector<Seed>& seeds, const Options& options) {
  const std::uint64_t jobs = options.jobs;
  int ends[2] = {};
  Total total;
  if (::pipe(ends) != 0) return total;
  std::vector<pid_t> children;
  for (std::uint64_t j = 0; j < jobs; ++j) {
    const pid_t pid = ::fork();
    if (pid > 0) children.push_back(pid);
    if (pid != 0) continue;
    ::close(ends[0]);
    std::FILE* out = ::fdopen(ends[1], "w");
    for (std::uint64_t i = j; i < seeds.size(); i += jobs) {
      const std::string folder = fmt::format("{}-{}", scratch(), j);
      report(play_seed(seeds[i], folder, is_real(options, seeds[i].number)), out);
      std::fflush(out);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::FILE* in = ::fdopen(ends[0], "r");
  char* line = nullptr;
  std::size_t room = 0;
  while (::getline(&line, &room, in) > 0) take(std::string(trim(line)), total);
  std::free(line);
  std::fclose(in);
  for (const pid_t pid : children) ::waitpid(pid, nullptr, 0);
  return total;
}

std::string listed(const std::map<std::string, int>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name);
  }
  return text.empty() ? "none" : text;
}

int run(const Options& options) {
  if (options.only > 0) {
    const Story story = play(options.only, scratch(), is_real(options, options.only));
    print(story);
    return story.violations.empty() ? 0 : 1;
  }
  std::vector<Seed> seeds = listed_in(options.list);
  for (std::uint64_t i = 0; i < options.seeds; ++i) seeds.push_back({options.from + i, ""});
  const Total total = play_all(seeds, options);
  int honest = 0;
  for (const auto& [state, count] : total.honest) honest += count;
  const auto promoted = total.honest.find("promoted");
  const int won = promoted == total.honest.end() ? 0 : promoted->second;
  fmt::print("{} of {} seeds, {:.2f} s of CPU each\n", total.stories, seeds.size(),
             total.cpu_s / std::max(1, total.stories));
  fmt::print("violations: {}\n", listed(total.violations));
  fmt::print("honest wins of 10 % and more: {} of {} promoted ({:.1f} %): {}\n", won, honest,
             honest ? 100.0 * won / honest : 0.0, listed(total.honest));
  fmt::print("other changes: {}\n", listed(total.others));
  const bool complete = total.stories == static_cast<int>(seeds.size());
  return total.violations.empty() && complete ? 0 : 1;
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
    std::uint64_t* const number = word == "--seeds"  ? &options.seeds
                                  : word == "--from" ? &options.from
                                  : word == "--jobs" ? &options.jobs
                                  : word == "--real" ? &options.real
                                  : word == "--seed" ? &options.only
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
