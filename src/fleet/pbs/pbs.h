// pbs.h: reads accounting logs of PBS Pro, OpenPBS and Torque (server_priv/accounting).
#pragma once

#include <memory>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::pbs {

bool claims(std::string_view head);  // "03/31/2025 11:39:29;E;4215065.pbs01;user=... group=..."

// A job is reported when it ends (E) or is rerun (R); jobs that only started (S) are reported as
// running. Other records are ignored.
std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

Explained explain(std::string_view head, const ReaderOptions& options);

}  // namespace amdahl::fleet::pbs
