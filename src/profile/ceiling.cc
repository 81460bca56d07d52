#include "profile/ceiling.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "scan/anatomy.h"

namespace amdahl::profile {

double taken_by_others(const std::map<std::string, double>& evidence) {
  const auto get = [&](const char* name) -> std::optional<double> {
    const auto found = evidence.find(name);
    if (found == evidence.end() || !std::isfinite(found->second)) return std::nullopt;
    return std::max(found->second, 0.0);
  };
  // Its own tasks' clocks; else that some task of the host waited, which may be anybody's.
  const auto waited = get("cpu_wait_share");
  double share = waited ? *waited : get("psi_cpu_some").value_or(0);
  // Of what it waited, the part that its own threads took from each other is the same in a test.
  const auto foreign = get("foreign_cpu_cores");
  const double used = foreign.value_or(0) + get("busy_cores").value_or(0);
  if (foreign && used > 0) share = std::min(share, *foreign / used);
  share += get("steal_share").value_or(0);
  // The hook's thread has a CPU that a pool of the job's may want.
  for (const char* ours : {"hook.overhead_share", "hook.lines_share", "waits.collector_share"}) {
    share += get(ours).value_or(0);
  }
  return std::min(1.0, share);
}

double ceiling_without(double taken, double share) {
  const double left = 1 - std::clamp(taken, 0.0, 1.0);
  return scan::ceiling_of(share >= left ? 1 : share / left);
}

double expected_gain(const model::Cause& cause) { return scan::ceiling_of(cause.share); }

double share_of(double ceiling) { return ceiling > 1 ? 1 - 1 / ceiling : 0; }

}  // namespace amdahl::profile
