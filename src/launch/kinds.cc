#include <array>

#include "launch/command/command.h"
#include "launch/launcher.h"
#include "launch/local/local.h"
#include "launch/slurm/slurm.h"
#include "observe/supervisor.h"

namespace amdahl::launch {
namespace {

constexpr auto kKinds = std::to_array<Kind>({
    {"local", "this machine, one detached worker a pair", false,
     [](const Site&, const std::string&) { return observe::hardware(); },
     [](const Site& site) { return local::make(site.state_dir); }},
    {"slurm", "a Slurm cluster, one job a pair", true,
     [](const Site& site, const std::string& family) {
       return slurm::hardware(slurm::settings_for(site, family));
     },
     slurm::make},
    {"command", "any scheduler, through a plug-in of five programs", true, command::hardware,
     command::make},
});

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

}  // namespace amdahl::launch
