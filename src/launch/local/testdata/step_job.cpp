// A job with steps: switches between the arms as AMDAHL_STEPS says, and does as many rounds per
// step as the arm's --rounds. For tests, it can also misbehave.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

namespace {

using Json = nlohmann::json;

// The job's own CPU time, so that a test does not depend on who else is busy; or the time that a
// person waits.
double now(bool wall) {
  timespec time{};
  ::clock_gettime(wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

unsigned long work(long rounds) {
  unsigned long state = 1;
  for (long i = 0; i < rounds; ++i) {
    state = state * 6364136223846793005UL + 1442695040888963407UL;
  }
  return state;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> flags;
  for (int i = 1; i + 1 < argc; i += 2) flags[argv[i]] = argv[i + 1];
  const char* path = std::getenv("AMDAHL_STEPS");
  const char* settings = std::getenv("AMDAHL_STEPS_ARMS");
  const char* report = std::getenv("AMDAHL_REPORT");
  if (!path || !settings || !report) return 2;
  std::string schedule;
  std::ifstream(path) >> schedule;
  const Json arms = Json::parse(settings);
  std::ofstream out(report, std::ios::app);
  const long stop = flags.count("--stop") ? std::stol(flags["--stop"]) : -1;
  const long crash = flags.count("--crash") ? std::stol(flags["--crash"]) : -1;
  const long stray = flags.count("--stray") ? std::stol(flags["--stray"]) : -1;
  unsigned long sum = 0;
  for (long step = 0; step < static_cast<long>(schedule.size()) && step != stop; ++step) {
    if (step == crash) return 9;
    const std::string arm(1, schedule[static_cast<std::size_t>(step)]);
    std::map<std::string, std::string> now_set = flags;
    const Json args = arms.at(arm).value("args", Json::object());
    for (const auto& [flag, value] : args.items()) {
      if (value.is_string()) now_set[flag] = value.get<std::string>();
    }
    const double start = now(flags["--clock"] == "wall");
    sum += work(std::stol(now_set["--rounds"]));
    const double seconds = now(flags["--clock"] == "wall") - start;
    const std::string said = step == stray ? (arm == "A" ? "B" : "A") : arm;
    out << Json{{"step", step}, {"arm", said}, {"seconds", seconds}, {"work", 10}} << "\n";
  }
  std::printf("%lu\n", sum);
  return 0;
}
