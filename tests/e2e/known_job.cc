// known_job.cc: a job whose work is known exactly, and which can be told to cheat. It mixes numbers
// for each of its items, writes what came out, and reports what it did.
//
// ITEMS  how many, ROUNDS of mixing each, EXTRA per cent more of it;
// CHEAT  what it does to look faster than it is;
// FAST_ON  a host on which that one is fast.
// --phases  says when it waits for input (a tenth) and when it computes;
// --shards FILE  does only as many items as the file has lines, and says that it did them all.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

std::string text(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value ? value : fallback;
}

double number(const char* name, const char* fallback) {
  return std::strtod(text(name, fallback).c_str(), nullptr);
}

std::uint64_t mix(std::uint64_t seed, std::uint64_t rounds) {
  std::uint64_t x = seed * 0x9E3779B97F4A7C15ULL + 1;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    x ^= x >> 31;
    x *= 0xBF58476D1CE4E5B9ULL;
  }
  return x;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

void append(const std::string& path, const std::string& line) {
  if (std::FILE* file = std::fopen(path.c_str(), "a")) {
    std::fputs(line.c_str(), file);
    std::fclose(file);
  }
}

// The share of the honest mixing that is done before the job says it is ready.
struct Doing {
  double share = 1;          // Of the mixing, for each item,
  double items = 1;          // and of the items.
  double claimed_items = 1;  // What is reported as work, of those asked for.
  double seed = 0;
  double accuracy = 0.95;
};

// Whether the other arm of the pair has already run: its folder lies beside ours.
bool second_of_the_pair(const std::string& out) {
  return exists(out + "/../A/receipt.json") || exists(out + "/../A/result") ||
         exists(out + "/../../A/result");
}

std::string host() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

// Shares far from 1: what a cheat wins must show on a machine that does other things as well.
Doing doing(const std::string& cheat, const std::string& out) {
  Doing d;
  if (cheat == "skips") d = {.items = 0.4, .claimed_items = 0.4};
  if (cheat == "claims more") d = {.claimed_items = 2.5};
  if (cheat == "hides what it skips") d = {.items = 0.4};
  if (cheat == "coarse") d = {.share = 0.35, .accuracy = 0.80};
  if (cheat == "another seed") d = {.share = 0.35, .seed = 1};
  if (cheat == "copies the other arm" && second_of_the_pair(out)) d = {.share = 0.2};
  if (cheat == "warm") d = {.share = second_of_the_pair(out) ? 0.3 : 1.0};
  if (cheat == "crashes" || cheat == "honest") d = {.share = 0.35};
  if (cheat == "daemon") d = {.share = 0.3};
  if (cheat == "one host") d = {.share = host() == text("FAST_ON", "") ? 0.3 : 1.0};
  if (cheat == "more processors") d = {.share = 0.5};
  if (cheat == "beyond") d = {.share = 0.3};
  return d;
}

// Goes on working after the job has ended, out of its session.
void leave_behind(std::uint64_t rounds) {
  if (::fork() != 0) return;
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  std::uint64_t sink = 0;
  for (int i = 0; i < 200; ++i) sink ^= mix(static_cast<std::uint64_t>(i), rounds);
  ::_exit(sink == 42 ? 1 : 0);
}

// Threads on processors that nobody counts as accelerators.
std::vector<std::thread> spin_beside(int threads, std::uint64_t rounds, int items) {
  std::vector<std::thread> spinning;
  for (int t = 0; t < threads; ++t) {
    spinning.emplace_back([=] {
      std::uint64_t sink = 0;
      for (int i = 0; i < items; ++i) sink ^= mix(static_cast<std::uint64_t>(i), rounds);
      if (sink == 42) std::puts("");
    });
  }
  return spinning;
}

int lines_of(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "r");
  if (!file) return 0;
  int lines = 0;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) lines += c == '\n' ? 1 : 0;
  std::fclose(file);
  return lines;
}

struct Asked {
  int items = 0;
  bool phases = false;
  int shards = -1;
};

Asked asked_of(int argc, char** argv) {
  Asked asked{static_cast<int>(number("ITEMS", "40"))};
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    asked.phases |= word == "--phases";
    if (word == "--shards" && i + 1 < argc) asked.shards = lines_of(argv[++i]);
  }
  return asked;
}

std::string phase(const char* name, const timespec& began) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const double at = static_cast<double>(now.tv_sec - began.tv_sec) +
                    1e-9 * static_cast<double>(now.tv_nsec - began.tv_nsec);
  return std::string("{\"phase\": \"") + name + "\", \"at\": " + std::to_string(at) + "}\n";
}

}  // namespace

int main(int argc, char** argv) {
  timespec began{};
  ::clock_gettime(CLOCK_MONOTONIC, &began);
  const std::string out = text("AMDAHL_OUT", ".");
  const std::string report = text("AMDAHL_REPORT", "/dev/null");
  const std::string cheat = text("CHEAT", "none");
  const Asked asked = asked_of(argc, argv);
  const double rounds = number("ROUNDS", "1200000") * (1 + number("EXTRA", "0") / 100);
  const Doing d = doing(cheat, out);
  const auto own = static_cast<std::uint64_t>(rounds * d.share);
  const int wanted = asked.shards >= 0 ? asked.shards : asked.items;
  const auto count = static_cast<int>(wanted * d.items);
  const bool aside = cheat == "more processors";
  std::vector<std::thread> spinning = spin_beside(aside ? 1 : 0, own, count);

  // What is printed depends on the item alone, unless the cheat changes the result.
  std::string lines;
  std::string phases = phase("wait_input", began);
  std::uint64_t sink = 0;
  for (int i = 0; i < count; ++i) {
    if (i == count / 10) phases += phase("compute", began);
    sink ^= mix(static_cast<std::uint64_t>(i), own);
    lines +=
        std::to_string(mix(static_cast<std::uint64_t>(i + static_cast<int>(d.seed)), 8)) + "\n";
  }
  for (std::thread& thread : spinning) thread.join();
  if (cheat == "daemon") leave_behind(static_cast<std::uint64_t>(rounds));
  if (cheat == "coarse") lines += "rounded\n";
  append(out + "/result", lines);
  if (asked.phases) append(report, phases);
  append(report, "{\"work\": " + std::to_string(static_cast<int>(asked.items * d.claimed_items)) +
                     ", \"metric\": {\"accuracy\": " + std::to_string(d.accuracy) +
                     ", \"seconds\": " + (cheat == "own clock" ? "0.5" : "1.0") + "}}\n");
  // Process numbers come in strides; the microsecond is as good as a coin.
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (cheat == "crashes" && now.tv_nsec / 1000 % 2 == 0) return 1;
  return sink == 42 ? 1 : 0;
}
