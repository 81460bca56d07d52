// kept_scans.h: the sums of earlier scans, kept so that a trend outlives their inputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/scan.h"
#include "base/result.h"

namespace amdahl::app {

// Sums of a kept scan, in accelerator-seconds. Of two with the same window the later one counts.
struct KeptScan {
  Nanos start{};  // Of its window, Unix time.
  Nanos end{};
  std::uint64_t jobs = 0;
  scan::Split split{};
  double lost = 0;
  double kwh = 0;  // 0: unknown.
};

// Adds this scan to the kept ones. kBadInput if its window is below a day, which tells no rate.
Result<> keep_scan(const Config& config, const FleetAnswer& answer);

// By start; empty if none were kept. Lines that cannot be read are an error with their place.
Result<std::vector<KeptScan>> kept_scans(const Config& config);

// The kept scans whose windows began in one month, UTC. Where windows overlap, the later counts.
struct KeptMonth {
  std::string month{};  // "2026-11".
  double days = 0;      // That its scans cover.
  std::uint64_t scans = 0;
  KeptScan sum{};
};
std::vector<KeptMonth> kept_months(std::vector<KeptScan> scans);

}  // namespace amdahl::app
