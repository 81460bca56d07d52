// zone.h: local times of a scan's inputs beside times that say their zone.
#pragma once

#include <optional>
#include <vector>

#include "fleet/intake_filters.h"
#include "ingest/files.h"
#include "scan/fleet_usage.h"
#include "scan/zone_finder.h"

namespace amdahl::ingest {

// Which side of the join is in local time while the other is not; nothing if there is no such side,
// so that all times are of one clock or the zone was given. `live`: jobs or samples that a program
// or a server gives.
struct Live {
  bool jobs = false;
  bool samples = false;
};
std::optional<scan::ZoneFinder::Local> local_side(const std::vector<Found>& files, Live live);

// Hands on what inputs in local time say as of the zone that was found, and shows a finder that
// looks for it what it needs.
class ZoneTap final : public fleet::PassOn {
 public:
  // `finder` may be null. Both must outlive this.
  ZoneTap(fleet::Intake& next, scan::ZoneFinder* finder, scan::ZoneFinder::Local side, Nanos shift)
      : PassOn(next), finder_{finder}, side_{side}, shift_{shift} {}

  void begin(bool is_local) { is_local_ = is_local; }  // Of the input that is read now.

  fleet::SeriesId series(const model::SeriesKey& key) override;
  void tell(const fleet::Record& record) override;

 private:
  void pass(fleet::Job job);
  void pass(fleet::Occupancy occupancy);
  void pass(fleet::Down down);
  void pass(const fleet::Samples& samples);
  void pass(const fleet::Rows& rows);
  bool finds(scan::ZoneFinder::Local side, bool is_local) const {
    return finder_ && is_local == (side == side_);
  }
  Nanos known(Nanos local) const { return is_local_ && local > Nanos{} ? local - shift_ : local; }
  // As our numbers of series say: one that two inputs tell of, in two zones, has two.
  static bool is_local(fleet::SeriesId series) { return series % 2 == 1; }

  scan::ZoneFinder* finder_;
  scan::ZoneFinder::Local side_;
  Nanos shift_;
  bool is_local_ = false;
  std::vector<fleet::SeriesId> ids_;  // Room for rows.
  std::vector<fleet::Sample> samples_;
};

// Why jobs and samples are not joined, and what to type.
Error unknown_zone(const std::vector<Found>& files, const scan::ZoneFit& fit);
// What was found, for the first lines of a report.
scan::Assumption found_zone(const std::vector<Found>& files, const scan::ZoneFit& fit);

}  // namespace amdahl::ingest
