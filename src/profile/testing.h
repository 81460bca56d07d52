// testing.h: receipts of quiet runs, and properties of every profile, for this room's tests.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "model/profile.h"
#include "model/receipt.h"

namespace amdahl::profile {

// Ten seconds on two accelerators.
inline model::Profile profile_of(std::map<std::string, double> evidence) {
  model::Profile profile;
  profile.wall = std::chrono::seconds(10);
  profile.accelerators = 2;
  profile.evidence = std::move(evidence);
  return profile;
}

// A quiet run of ten seconds on CPU slots.
inline model::Receipt run(int accelerators, float utilisation) {
  model::Receipt receipt;
  receipt.id = "r-1/profile";
  receipt.family = "eval";
  receipt.plan_digest = "0123456789abcdef";
  receipt.accelerators = accelerators;
  receipt.accelerator_kind = "cpu slot";
  for (int i = 0; i < accelerators; ++i) receipt.cpus.push_back(i);
  receipt.wall = std::chrono::seconds(10);
  receipt.cpu_user = from_seconds(9.8 * accelerators * static_cast<double>(utilisation));
  receipt.cpu_system = from_seconds(0.2 * accelerators * static_cast<double>(utilisation));
  receipt.peak_threads = accelerators;
  receipt.voluntary_switches = 100;
  receipt.run_delay = std::chrono::milliseconds(1);
  receipt.ending = model::Ending::kExited;
  receipt.utilisation = {
      .interval = std::chrono::seconds(1), .metric = "CPU slot", .accelerators = {}};
  receipt.utilisation.accelerators.assign(static_cast<std::size_t>(accelerators),
                                          std::vector<float>(10, utilisation));
  return receipt;
}

// Spans laid end to end.
inline void report(model::Receipt& receipt,
                   const std::vector<std::pair<const char*, int>>& phases) {
  Nanos at{};
  for (const auto& [name, ms] : phases) {
    receipt.phases.push_back({name, at, std::chrono::milliseconds(ms)});
    at += std::chrono::milliseconds(ms);
  }
}

inline const model::Cause* cause_of(const model::Profile& profile, model::Bottleneck bottleneck) {
  for (const model::Cause& cause : profile.causes) {
    if (cause.bottleneck == bottleneck) return &cause;
  }
  return nullptr;
}

inline void expect_sane(const model::Profile& profile) {
  double before = 1;
  std::set<model::Bottleneck> seen;
  for (const model::Cause& cause : profile.causes) {
    EXPECT_GE(cause.share, 0);
    EXPECT_LE(cause.share, before) << "largest first";
    EXPECT_GE(cause.ceiling, 1);
    EXPECT_FALSE(cause.because.empty());
    EXPECT_TRUE(seen.insert(cause.bottleneck).second) << "one cause a class";
    EXPECT_NEAR(cause.accelerator_seconds,
                cause.share * to_seconds(profile.wall) * profile.accelerators, 1e-6);
    before = cause.share;
  }
  for (const auto& [name, value] : profile.evidence) {
    if (!name.ends_with("_share") && !name.ends_with(".share")) continue;
    EXPECT_GE(value, 0) << name;
    EXPECT_LE(value, 1 + 1e-9) << name;
  }
  EXPECT_FALSE(profile.rule.empty());
}

}  // namespace amdahl::profile
