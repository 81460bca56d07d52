// lever.h: the best lever of each family, and what of a job's waste it may take away.
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

// Parts of every job. Those of jobs with timelines are kept, of others they cost little.
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
  PartKind kind = PartKind::kUnplaced;  // For From::kAnatomy and kShare.
  double gets = 0;                      // For those: what to expect back of a second of that kind.
};

class Levers {
 public:
  // If it was stopped it is not complete, and nothing may be asked.
  Levers(const FleetUsage& usage, const Families& families, const Memories& memory,
         const Policies& policies, const Stop& stop);

  const FamilyLever& of_family(std::uint32_t family) const { return levers_[family]; }
  // Accelerator-seconds: what the family's lever may take away of this job's waste.
  double recoverable(std::uint32_t job) const;
  const JobParts& parts() const { return parts_; }

 private:
  const FleetUsage& usage_;
  const Families& families_;
  JobParts parts_;
  std::vector<FamilyLever> levers_;
};

}  // namespace amdahl::scan
