// slurm.h: runs pairs as Slurm jobs, through the site's own client programs.
#pragma once

#include <memory>
#include <string>

#include "launch/launcher.h"

namespace amdahl::launch::slurm {

// Runs live in <state_dir>/runs/<reservation>, which nodes must see under the same path. A pair is
// one job, submitted held, named after its reservation and ticket, and found again by that name:
// job ids may be reused after a crash of the controller. See docs/design/0003-launchers.md.
std::unique_ptr<Launcher> make(const Site& site);

// The settings for jobs of the family: its own, or the site's.
const Settings& settings_for(const Site& site, const std::string& family);

// Hardware class that the settings request.
std::string hardware(const Settings& settings);

}  // namespace amdahl::launch::slurm
