// test_fleet.h: a fleet of one day, job by job, for tests of the report.
#pragma once

#include <chrono>
#include <string_view>

#include "scan/family.h"
#include "scan/fleet_usage.h"
#include "scan/report.h"

namespace amdahl::scan {

inline constexpr double kHour = 3600;

// Jobs without lanes.
struct Fleet {
  FleetUsage usage;

  Fleet() { usage.window = {.start = std::chrono::hours{1000}, .end = std::chrono::hours{1024}}; }

  struct TestJob {
    std::string_view id;
    std::string_view name = "train";
    std::string_view user = "u1";
    std::string_view kind = "a100";
    std::string_view hosts = "";
    double accelerators = 1;
    int start = 0;  // Hours into the window.
    int hours = 1;
    int queued = -1;          // Hours; -1: unknown.
    double utilisation = -1;  // -1: unobserved.
    model::JobState state = model::JobState::kCompleted;
  };

  void add(const TestJob& told) {
    FleetJob job;
    job.id = usage.words.intern_job(told.id);
    job.name = usage.words.intern(told.name);
    job.user = usage.words.intern(told.user);
    job.kind = usage.words.intern(told.kind);
    job.hosts = usage.words.intern(told.hosts);
    job.accelerators = static_cast<float>(told.accelerators);
    job.start = usage.window.start + std::chrono::hours{told.start};
    job.end = job.start + std::chrono::hours{told.hours};
    if (told.queued >= 0) job.submit = job.start - std::chrono::hours{told.queued};
    job.state = told.state;
    job.split.allocated = told.accelerators * told.hours * kHour;
    job.split.unobserved = told.utilisation < 0 ? job.split.allocated : 0;
    if (told.utilisation >= 0) {
      job.evidence = Evidence::kMean;
      job.metric = usage.words.intern("acc_utilization");
      job.split.productive = told.utilisation * job.split.allocated;
      (told.utilisation > 0 ? job.split.low : job.split.idle) =
          job.split.allocated - job.split.productive;
    }
    usage.jobs.push_back(job);
  }

  Report report(const ReportOptions& options = {}, const Memories& memory = {}) const {
    return scan::report(usage, families_of(usage, *Recogniser::make({})), memory, options);
  }
};

}  // namespace amdahl::scan
