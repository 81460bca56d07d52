#include "real_job.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/host.h"
#include "run_arm.h"
#include "scenario.h"
#include "world.h"

namespace amdahl::adversary {
namespace {

constexpr double kLongest_s = 10;  // What hangs is killed long before.

model::Plan plan_of(const std::vector<std::string>& argv, std::size_t variants) {
  model::Plan plan;
  plan.argv = argv;
  for (std::size_t i = 0; i < variants; ++i) {
    const std::string name = fmt::format("V{}", i);
    if (const std::string value = os::env_or(name.c_str(), ""); !value.empty()) {
      plan.env[name] = value;
    }
  }
  if (const std::string length = os::env_or("LENGTH", ""); !length.empty()) {
    plan.env["LENGTH"] = length;
  }
  return plan;
}

// The baseline's receipt, if it has run already; its folder lies beside ours.
std::string receipt_before(const std::string& out) {
  const std::string path = out + "/../A/receipt.json";
  return os::exists(path) ? path : "";
}

// Goes on while the job has ended, until somebody stops it.
void leave_behind(int processes) {
  for (int i = 0; i < processes; ++i) {
    if (::fork() != 0) continue;
    os::real_clock().sleep(std::chrono::seconds(5));
    ::_exit(0);
  }
}

Result<> leave_files(const Scenario& scenario, const Act& act, const std::string& out,
                     sim::Stream& luck) {
  fmt::print("{}", stdout_text(scenario, act, luck));
  TRY(os::write_file(os::env_or("AMDAHL_REPORT", out + "/report.jsonl"),
                     report_text(scenario, act)));
  if (!act.output) return Ok{};
  const std::string path = out + "/result";
  TRY(os::write_file(path, *act.output));
  if (!act.old_output) return Ok{};
  const timespec old[] = {{1'600'000'000, 0}, {1'600'000'000, 0}};
  ::utimensat(AT_FDCWD, path.c_str(), old, 0);
  return Ok{};
}

void spoil(const std::string& path) {
  const auto text = os::read_file(path);
  if (text) static_cast<void>(os::write_file(path, *text + "\n}"));
}

}  // namespace

int real_job(const std::vector<std::string>& argv) {
  const auto seed = to_number<std::uint64_t>(argv.at(2));
  const auto folder = os::working_folder();
  if (!seed || !folder) return 2;
  const Scenario scenario = generate(*seed, *folder, {.real = true});
  World* world = make_world(*folder);
  const std::string out = os::env_or("AMDAHL_OUT", *folder);
  const std::string before = receipt_before(out);
  sim::Stream luck(*seed, static_cast<std::uint64_t>(::getpid()));
  const model::Plan plan = plan_of(argv, scenario.variants.size());
  const Act act = act_of(scenario, *world, plan,
                         {.after_other = !before.empty(), .warm = !before.empty()}, luck);
  os::real_clock().sleep(from_seconds(std::min(act.wall_s, kLongest_s)));
  if (act.kills_worker) ::kill(::getppid(), SIGKILL);
  if (act.spoils_other) spoil(before);
  if (act.ending == model::Ending::kSignalled) std::raise(act.code);
  if (act.code == 0 && !leave_files(scenario, act, out, luck)) return 2;
  leave_behind(act.left_behind);
  return act.code;
}

}  // namespace amdahl::adversary
