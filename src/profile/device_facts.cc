#include "profile/device_facts.h"

#include <algorithm>
#include <array>

#include "profile/causes.h"
#include "profile/why.h"

namespace amdahl::profile {
namespace {

constexpr auto kTold = std::to_array({Why::kSync, Why::kCopy, Why::kHost, Why::kLaunch});
constexpr double kMostOfIt = 0.5;  // Less is a window of steps, and says nothing of the rest.

}  // namespace

bool is_of_devices(const model::Cause& cause) {
  return std::ranges::any_of(kTold, [&](Why why) { return why_of(cause) == why; });
}

Facts facts_of(const TraceReport& report, Nanos wall) {
  Facts facts;
  facts.evidence = report.profile.evidence;
  const double wall_s = to_seconds(wall);
  if (report.devices.empty() || to_seconds(report.wall) < kMostOfIt * wall_s) return facts;
  Nanos computed{};
  for (const DeviceRow& row : report.devices) computed = std::max(computed, row.split.compute);
  if (computed <= Nanos{} || wall_s <= 0) return facts;
  facts.evidence[kDeviceComputes] = std::min(1.0, to_seconds(computed) / wall_s);
  const double devices = static_cast<double>(report.devices.size());
  for (model::Cause cause : report.profile.causes) {
    if (!is_of_devices(cause)) continue;
    cause.share = std::min(1.0, cause.accelerator_seconds / (devices * wall_s));
    if (cause.share >= kSmallestCause) facts.causes.push_back(std::move(cause));
  }
  return facts;
}

}  // namespace amdahl::profile
