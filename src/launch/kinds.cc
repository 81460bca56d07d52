#include <array>

#include "launch/command/command.h"
#include "launch/launcher.h"
#include "launch/local/local.h"
#include "launch/slurm/slurm.h"
#include "observe/supervisor.h"

namespace amdahl::launch {
namespace {

constexpr auto kKinds = std::to_array<Kind>({
    {"local", false, [](const Site&, const std::string&) { return observe::hardware(); },
     [](const Site& site) { return local::make(site.state_dir); }},
    {"slurm", true,
     [](const Site& site, const std::string& family) {
       return slurm::hardware(slurm::settings_for(site, family));
     },
     slurm::make},
    {"command", true, command::hardware, command::make},
});

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

}  // namespace amdahl::launch
