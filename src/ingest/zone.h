// zone.h: aligns inputs in local time with inputs that state their time zone.
#pragma once

#include <optional>
#include <vector>

#include "fleet/intake_filters.h"
#include "ingest/files.h"
#include "scan/fleet_usage.h"
#include "scan/zone_finder.h"

namespace amdahl::ingest {

// Which side of the join is in local time while the other is not; nothing if all times are on one
// clock or the zone was given. `live`: jobs or samples come from a program or server.
struct Live {
  bool jobs = false;
  bool samples = false;
};
std::optional<scan::ZoneFinder::Local> local_side(const std::vector<Found>& files, Live live);

// Passes records of local-time inputs on in the zone that was found, and feeds a finder that looks
// for it.
class ZoneTap final : public fleet::PassOn {
 public:
  // `finder` may be null. Both must outlive this.
  ZoneTap(fleet::Intake& next, scan::ZoneFinder* finder, scan::ZoneFinder::Local side, Nanos shift)
      : PassOn(next), finder_{finder}, side_{side}, shift_{shift} {}

  void begin(bool is_local) { is_local_ = is_local; }  // For the input being read.

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
  // Encoded in our series numbers: a series told by two inputs in two zones has two numbers.
  static bool is_local(fleet::SeriesId series) { return series % 2 == 1; }

  scan::ZoneFinder* finder_;
  scan::ZoneFinder::Local side_;
  Nanos shift_;
  bool is_local_ = false;
  std::vector<fleet::SeriesId> ids_;  // Buffer for rows.
  std::vector<fleet::Sample> samples_;
};

// Why jobs and samples cannot be joined, and what to type.
Error unknown_zone(const std::vector<Found>& files, const scan::ZoneFit& fit);
// What was found, for the first lines of a report.
scan::Assumption found_zone(const std::vector<Found>& files, const scan::ZoneFit& fit);
// Hosts whose clocks seem wrong; nothing if there are none.
std::optional<scan::Assumption> odd_clocks(const scan::ZoneFit& fit);

}  // namespace amdahl::ingest
