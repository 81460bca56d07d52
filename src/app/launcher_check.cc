#include "app/launcher_check.h"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>
#include <unistd.h>

#include "app/context.h"
#include "launch/command/command.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::app {

Result<LauncherCheck> check_launcher(const Config& config, const std::string& plug_in,
                                     Nanos patience) {
  for (const char* verb : {"submit", "release", "status", "cancel", "capacity"}) {
    const std::string program = fmt::format("{}/{}", plug_in, verb);
    if (::access(program.c_str(), X_OK) == 0) continue;
    return bad_input(
        fmt::format("{} is not a program; a plug-in has submit, release, status, "
                    "cancel and capacity (docs/format/launcher.md)",
                    program));
  }
  const std::string folder =
      fmt::format("{}/launcher-check-{}", config.state_dir, os::random_hex(6));
  TRY(make_state(folder));
  launch::Site site{folder, config.slurm, plug_in};
  site.slurm.poll = std::min<Nanos>(site.slurm.poll, patience / 20);
  const launch::Trial trial{[&] { return launch::command::make(site); }, folder + "/scratch",
                            patience, std::min<Nanos>(std::chrono::seconds(2), patience / 10)};
  LauncherCheck check{os::absolute(plug_in), launch::rules().size(), launch::conformance(trial)};
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return check;
}

}  // namespace amdahl::app
