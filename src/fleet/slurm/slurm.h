// slurm.h: reads the output of Slurm's programs: sacct, scontrol, sinfo, sacctmgr.
#pragma once

#include <memory>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::slurm {

// `sacct -P` with a header, `sacct --json`, `scontrol show nodes`, `scontrol show job -d`, `sinfo
// -N -o '%N|%R|%G'`, `sacctmgr -P show event`. Output without a header is read only if the source
// is named and the options list the fields.
bool claims(std::string_view head);

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

Explained explain(std::string_view head, const ReaderOptions& options);

}  // namespace amdahl::fleet::slurm
