#include "play.h"

#include <cstring>
#include <filesystem>
#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oracle.h"
#include "os/fake/fixed_random.h"
#include "os/files.h"
#include "scenario.h"
#include "turn.h"
#include "world.h"

namespace amdahl::adversary {
namespace {

constexpr int kCleanTurns = 24;  // Until what is left after the faults must have settled.

struct Child {
  bool exited = false;
  int code = 0;  // Or the signal.
};

void note_problem(World& world, const std::string& text) {
  std::strncpy(world.problem, text.c_str(), sizeof world.problem - 1);
}

class Player {
 public:
  Player(const Scenario& scenario, World& world, Story& story)
      : scenario_{scenario}, world_{world}, story_{story} {}

  void go() {
    const Child prepared = in_child([&] {
      const auto done = prepare(scenario_, world_);
      if (!done) note_problem(world_, done.error().text);
      return done ? 0 : 1;
    });
    if (!prepared.exited || prepared.code != 0) return complain("error", "cannot prepare");
    for (const Turn& turn : scenario_.turns) {
      if (!faulty(turn)) return;
    }
    clean();
    judge_it();
  }

 private:
  // Nothing of the program runs in this process, so that a crash there ends no seed but its own.
  // No two children draw the same tickets.
  Child in_child(const std::function<int()>& body) {
    constexpr std::uint64_t kMostChildren = 1000;
    ++children_;
    const pid_t pid = ::fork();
    if (pid == 0) {
      os::fix_random(scenario_.seed * kMostChildren + children_);
      ::_exit(body());
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    return {WIFEXITED(status), WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status)};
  }

  void complain(const std::string& kind, const std::string& what) {
    story_.violations.push_back(fmt::format("{}: {}: {}", kind, what, world_.problem));
  }

  // Whether the story can go on.
  bool faulty(const Turn& turn) {
    world_.problem[0] = 0;
    const Child child = in_child([&] { return static_cast<int>(live(scenario_, world_, turn)); });
    const bool killed = !child.exited && child.code == SIGKILL;
    if (!child.exited && !killed) {
      complain("crash", fmt::format("signal {} in a turn with a fault", child.code));
      return false;
    }
    if (child.exited && child.code == static_cast<int>(TurnEnd::kHangs)) {
      complain("hang", "in a turn with a fault");
      return false;
    }
    tell(scenario_, world_, killed ? "KILLED" : fmt::format("PROCESS ends: {}", world_.problem));
    const Child deed = in_child([&] {
      const auto done = act(scenario_, world_, turn.then);
      if (!done) note_problem(world_, done.error().text);
      return !done ? 2 : *done ? 1 : 0;
    });
    if (!deed.exited || deed.code > 1) complain("error", "a person's deed");
    flipped_ |= deed.exited && deed.code == 1;
    return true;
  }

  // Without faults it must come to rest.
  void clean() {
    int errors = 0;
    for (int i = 0; i < kCleanTurns; ++i) {
      world_.problem[0] = 0;
      const Child child =
          in_child([&] { return static_cast<int>(live(scenario_, world_, Turn{})); });
      if (!child.exited) {
        return complain(child.code == SIGXCPU || child.code == SIGKILL ? "hang" : "crash",
                        fmt::format("signal {} without a fault", child.code));
      }
      const auto end = static_cast<TurnEnd>(child.code);
      if (end == TurnEnd::kHangs) return complain("hang", "virtual time went by and nothing ended");
      if (end == TurnEnd::kError && ++errors > 1) return complain("error", "the cycle stops");
      if (end != TurnEnd::kSettled) continue;
      settled_ = true;
      const int decided =
          scenario_.person ? counted([&] { return decide_all(scenario_, world_, i); }) : 0;
      const int again = counted([&] { return propose_aborted(scenario_, world_); });
      if (decided + again == 0) return;
    }
    if (!settled_) complain("hang", "it does not settle");
  }

  // How many things a person did.
  int counted(const std::function<Result<int>()>& deed) {
    const Child child = in_child([&] {
      const auto done = deed();
      if (!done) note_problem(world_, done.error().text);
      return done ? *done : 0;
    });
    return child.exited ? child.code : 0;
  }

  void judge_it() {
    const std::string path = scenario_.spec.workdir + "/judged.json";
    in_child([&] {
      Story part;
      const auto judged = judge(scenario_, world_, settled_, flipped_, part);
      if (!judged) part.violations.push_back("error: the oracle: " + judged.error().text);
      Json json{{"violations", part.violations}, {"endings", Json::array()}};
      for (const Ending& e : part.endings) {
        json["endings"].push_back({e.title, e.counts, e.state, e.because});
      }
      return os::write_file(path, dump_json(json)) ? 0 : 1;
    });
    const auto text = os::read_file(path);
    const auto json = text ? parse_json(*text) : Result<Json>(text.error());
    if (!json) return complain("error", "the oracle did not end");
    for (const Json& v : json->at("violations")) story_.violations.push_back(v.get<std::string>());
    for (const Json& e : json->at("endings")) {
      story_.endings.push_back({e.at(0).get<std::string>(), e.at(1).get<bool>(),
                                e.at(2).get<std::string>(), e.at(3).get<std::string>()});
    }
  }

  const Scenario& scenario_;
  World& world_;
  Story& story_;
  bool settled_ = false;
  bool flipped_ = false;
  std::uint64_t children_ = 0;
};

double children_cpu() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

}  // namespace

Story play(std::uint64_t seed, const std::string& folder, const Mode& mode) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const Scenario scenario = generate(seed, folder, mode);
  Story story;
  story.seed = seed;
  story.made = describe(scenario);
  World* world = make_world(folder);
  const double before = children_cpu();
  Player(scenario, *world, story).go();
  story.cpu_s = children_cpu() - before;
  ::munmap(world, sizeof(World));
  if (const auto told = os::read_file(story_path(scenario))) story.told = *told;
  std::filesystem::remove_all(folder);
  return story;
}

}  // namespace amdahl::adversary
