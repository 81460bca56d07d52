#include "app/doctor.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/core.h>
#include <unistd.h>

#include "app/asking.h"
#include "app/doctor_ledger.h"
#include "launch/launcher.h"
#include "observe/bpf/waits.h"
#include "observe/supervisor.h"
#include "os/bubblewrap.h"
#include "os/cgroup.h"
#include "os/files.h"
#include "os/host.h"
#include "os/private.h"
#include "os/program.h"

namespace amdahl::app {
namespace {

Symptom state_folder(const Config& config) {
  if (!os::exists(config.state_dir)) {
    return {"state folder", "absent", config.state_dir + " does not exist yet", "amdahl init"};
  }
  if (::access(config.state_dir.c_str(), W_OK) != 0) {
    return {"state folder", "missing", config.state_dir + " cannot be written",
            fmt::format("chown {} {}", os::user_name(), config.state_dir)};
  }
  if (os::is_open_to_others(config.state_dir)) {
    return {"state folder", "missing",
            config.state_dir + " is open to others: it holds the commands and logs of jobs",
            fmt::format("chmod 700 {}", config.state_dir)};
  }
  return {"state folder", "ok", config.state_dir, ""};
}

constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr double kLeastGiB = 0.5;

// Of the nearest folder that exists, where the state folder is or will be.
Symptom disk(const Config& config) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path folder = config.state_dir;
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  const fs::space_info space = fs::space(folder, error);
  if (error) return {"disk", "absent", fmt::format("{}: {}", folder.string(), error.message()), ""};
  const double free = static_cast<double>(space.available) / kGiB;
  const std::string detail = fmt::format("{:.1f} GiB free in {}", free, folder.string());
  if (free >= kLeastGiB) return {"disk", "ok", detail, ""};
  return {"disk", "missing", detail + ": receipts and the ledger need room",
          "free some, or name another folder with --state"};
}

Symptom accelerators() {
  std::string why_not;
  const int gpus = observe::gpu_count(&why_not);
  if (gpus > 0) return {"accelerators", "ok", observe::hardware(), ""};
  return {"accelerators", "ok",
          fmt::format("{}; CPU slots stand in for GPUs ({})", observe::hardware(), why_not), ""};
}

Symptom file_there(const std::string& name, const std::string& path, const std::string& without) {
  if (os::exists(path)) return {name, "ok", path, ""};
  return {name, "absent", fmt::format("{} is not there: {}", path, without), ""};
}

// Of the python3 that a job would get.
Symptom torch() {
  constexpr const char* kAsk =
      "import importlib.util as u, sys\n"
      "print(sys.executable, 'has' if u.find_spec('torch') else 'lacks', end='')";
  std::string said;
  const auto asked = os::run_program(
      {.argv = {"python3", "-c", kAsk}, .limit = std::chrono::seconds(20)},
      [&](std::string_view bytes) -> Result<> {
        said += bytes;
        return Ok{};
      },
      [] { return false; });
  if (!asked) return {"PyTorch", "absent", "no python3 on PATH: " + asked.error().text, ""};
  const std::string python = said.substr(0, said.find(' '));
  if (said.ends_with(" has")) return {"PyTorch", "ok", python + " has torch", ""};
  const bool debian = os::exists("/usr/lib/python3/dist-packages/torch/__init__.py");
  return {
      "PyTorch", "absent", python + " (python3 on PATH) has no torch",
      debian ? "run jobs with /usr/bin/python3, which has it" : "apt-get install python3-torch"};
}

Symptom blas() {
  const std::vector<std::string> found = os::glob("/usr/lib/*/openblas-*/libblas.so.3");
  if (!found.empty()) return {"BLAS", "ok", found.front(), ""};
  if (os::glob("/usr/lib/*/blas/libblas.so.3").empty()) {
    return {"BLAS", "absent", "none of Debian's is installed; Python wheels bring their own", ""};
  }
  return {"BLAS", "missing", "no OpenBLAS: the reference BLAS is many times slower",
          "apt-get install libopenblas0-pthread"};
}

Symptom opencl() {
  const std::vector<std::string> found = os::glob("/etc/OpenCL/vendors/*.icd");
  if (!found.empty()) return {"OpenCL", "ok", found.front(), ""};
  return {"OpenCL", "absent", "no driver; only the device-queue example needs one",
          "apt-get install pocl-opencl-icd"};
}

Symptom bpf() {
  const std::string why_not = observe::why_no_bpf();
  if (why_not.empty()) return {"BPF", "ok", "profiles see every wait of a job's threads", ""};
  return {"BPF", "absent", why_not + "; profiles sample /proc instead", ""};
}

// Where pairs run, asked about the smallest job that there can be.
Symptom launcher(const Config& config) {
  if (config.launcher == "local") return {"launcher", "ok", "local: pairs run on this machine", ""};
  const auto kind = std::ranges::find(launch::kinds(), config.launcher, &launch::Kind::name);
  if (kind == launch::kinds().end() || (config.launcher == "command" && config.plug_in.empty())) {
    return {"launcher", "missing", fmt::format("'{}' cannot be used", config.launcher),
            "amdahl config says which there are"};
  }
  launch::PairRequest smallest;
  smallest.spec.time_limit = std::chrono::minutes(1);
  smallest.a.accelerators = smallest.b.accelerators = 1;
  const auto there =
      kind->make({config.state_dir, config.slurm, config.plug_in, config.slurm_families});
  const auto room = there->capacity(smallest);
  if (!room) {
    return {"launcher", "missing", fmt::format("{}: {}", config.launcher, room.error().text),
            "try its own programs, such as sinfo, as this user"};
  }
  if (!room->never.empty()) {
    return {
        "launcher", "missing",
        fmt::format("{} can never run a job of one accelerator: {}", config.launcher, room->never),
        config.launcher == "slurm" ? "name partition and gres under [slurm]; gres = \"\" if jobs "
                                     "use CPU slots"
                                   : "amdahl launcher check FOLDER"};
  }
  std::string detail = room->hardware;
  if (room->room) detail += fmt::format("; room for {} more jobs of one accelerator", *room->room);
  return {"launcher", "ok", detail, ""};
}

Symptom slots(const Config& config) {
  if (config.launcher != "local") {
    return {"slots", "ok",
            fmt::format("{} CPUs that pairs may hold at once, on all nodes", config.slots.size()),
            ""};
  }
  std::string list;
  for (const int cpu : config.slots) list += fmt::format("{}{}", list.empty() ? "" : " ", cpu);
  return {"slots", "ok", fmt::format("CPUs {}", list), ""};
}

// What the groups around us allow; runs are started here and inherit it.
Symptom cgroup(const Config& config) {
  const auto mounts = os::read_file("/proc/self/mountinfo");
  const std::string versions = mounts ? os::cgroup_versions(*mounts) : "";
  if (versions.empty()) {
    return {"cgroup", "absent", "none is mounted: limits come from /proc only", ""};
  }
  const os::CgroupLimits limits = os::own_cgroup_limits();
  const double quota = limits.quota_cores;
  std::string detail = versions;
  detail += quota > 0 ? fmt::format(", quota {:.3g} cores", quota) : ", no CPU quota";
  if (limits.memory_bytes > 0) {
    const double gib = static_cast<double>(limits.memory_bytes) / kGiB;
    detail += fmt::format(", {:.3g} GiB of memory", gib);
  }
  const int whole = std::max(1, static_cast<int>(quota));
  if (quota <= 0 || static_cast<int>(config.slots.size()) <= whole) {
    return {"cgroup", "ok", detail, ""};
  }
  return {"cgroup", "absent",
          fmt::format("{}: {} slots at once would exceed the quota", detail, config.slots.size()),
          fmt::format("amdahl cycle --slots {}, or slots = {} in the configuration", whole, whole)};
}

Symptom git() {
  if (os::can_use("git")) return {"git", "ok", "patches can be tried in a worktree", ""};
  return {"git", "absent", "patches cannot be tried", "apt-get install git"};
}

Symptom sandbox(const Config& config) {
  std::string why_not;
  if (os::can_jail(&why_not)) return {"sandbox", "ok", "patches of agents run in bubblewrap", ""};
  if (config.agent_unsandboxed) {
    return {"sandbox", "absent", "patches of agents run without one: agent.unsandboxed = true", ""};
  }
  return {"sandbox", "absent", fmt::format("patches of agents are refused: {}", why_not),
          "apt-get install bubblewrap; in a container, allow user namespaces"};
}

// Which models can be asked, and who pays for them.
void add_models(const Config& config, std::vector<Symptom>& symptoms) {
  const auto models = models_of(config);
  if (!models) {
    symptoms.push_back({"models", "missing", models.error().text, "correct [agent]"});
    return;
  }
  if (models->empty()) {
    symptoms.push_back({"models", "absent", "none: only rules propose changes, at no cost",
                        "name one under [agent] of the configuration"});
  }
  for (const agent::Runtime& runtime : *models) {
    const auto kind = std::ranges::find(agent::kinds(), runtime.kind, &agent::Kind::name);
    const agent::Kind::State state = kind->look(runtime);
    symptoms.push_back({fmt::format("model {}", runtime.kind), state.works ? "ok" : "missing",
                        state.detail, state.fix});
  }
}

}  // namespace

std::vector<Symptom> examine(const Config& config) {
  std::vector<Symptom> symptoms{
      {"configuration", "ok", config.from.empty() ? "defaults" : config.from, ""},
      state_folder(config),
      disk(config),
      accelerators(),
      launcher(config),
      slots(config),
      file_there("pressure (PSI)", "/proc/pressure/cpu", "host noise lacks one covariate"),
      cgroup(config),
      bpf(),
      torch(),
      blas(),
      opencl(),
      git(),
      sandbox(config),
  };
  const std::vector<Symptom> ledger = examine_ledger(config);
  symptoms.insert(symptoms.begin() + 2, ledger.begin(), ledger.end());
  add_models(config, symptoms);
  return symptoms;
}

std::vector<Symptom> examine(const Overrides& overrides) {
  const auto config = load_config(overrides);
  if (config) return examine(*config);
  std::vector<Symptom> symptoms = examine(defaults({.state_dir = overrides.state_dir}));
  symptoms.front() = {"configuration", "missing", config.error().text,
                      "correct it, or name another file with --config"};
  return symptoms;
}

bool is_well(const std::vector<Symptom>& symptoms) {
  return std::ranges::none_of(symptoms,
                              [](const Symptom& symptom) { return symptom.state == "missing"; });
}

}  // namespace amdahl::app
