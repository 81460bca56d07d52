#include "launch/slurm/ask.h"

#include "os/host.h"
#include "os/program.h"

namespace amdahl::launch::slurm {
namespace {

constexpr Nanos kAnswersWithin = std::chrono::seconds(75);  // sacct waits 45 s for a hung server.

}  // namespace

Result<std::string> ask(const std::vector<std::string>& words) {
  std::string text;
  TRY(os::run_program(
      {.argv = words,
       .env = {{"LC_ALL", "C"},
               {"SLURM_TIME_FORMAT", "%s"},
               {"SLURM_CONF", os::env_or("SLURM_CONF", "/etc/slurm/slurm.conf")}},
       // A cycle may itself run in a job, and people set defaults for themselves.
       .without = {"SLURM_", "SBATCH_", "SQUEUE_", "SACCT_", "SCANCEL_", "SINFO_"},
       .limit = kAnswersWithin},
      [&](std::string_view bytes) -> Result<> {
        text.append(bytes);
        return Ok{};
      },
      nullptr));
  return text;
}

}  // namespace amdahl::launch::slurm
