// lever.h: the best lever of each family, and how much of a job's waste it may remove.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scan/family.h"
#include "scan/fleet_usage.h"
#include "scan/parts.h"
#include "scan/policy.h"
#include "scan/report.h"
#include "scan/stop.h"

namespace amdahl::scan {

// Parts of every job. Cached for jobs with timelines; cheap for others.
class JobParts {
 public:
  JobParts(const FleetUsage& usage, const Stop& stop);
  PartSeconds of(std::uint32_t job) const;

 private:
  const FleetUsage& usage_;
  std::vector<std::uint32_t> jobs_;  // Ascending.
  std::vector<PartSeconds> parts_;
};

struct FamilyLever {
  Lever lever;
  PartKind kind = PartKind::kUnplaced;  // For kAnatomy and kShare.
  double gets = 0;                      // For those: expected recovery per second of that kind.
};

class Levers {
 public:
  // If stopped, it is incomplete and must not be used.
  Levers(const FleetUsage& usage, const Families& families, const Memories& memory,
         const Policies& policies, const Stop& stop);

  const FamilyLever& of_family(std::uint32_t family) const { return levers_[family]; }
  // Every lever that may return something, the most promising first. Parts of the waste are in one
  // of them each; causes of a profile may overlap.
  const std::vector<Lever>& all_of_family(std::uint32_t family) const { return all_[family]; }
  // Accelerator-seconds of this job's waste that the family's lever may remove.
  double recoverable(std::uint32_t job) const;
  const JobParts& parts() const { return parts_; }

 private:
  const FleetUsage& usage_;
  const Families& families_;
  JobParts parts_;
  std::vector<FamilyLever> levers_;
  std::vector<std::vector<Lever>> all_;
};

}  // namespace amdahl::scan
