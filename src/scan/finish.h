// finish.h: the last step of a scan: assigns samples to jobs and computes each job's split.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "scan/stop.h"
#include "scan/usage_accumulator.h"

namespace amdahl::scan {

// Joins everything a UsageAccumulator received. Jobs are in finish.cc, capacity in
// finish_fleet.cc.
class Finisher {
 public:
  explicit Finisher(UsageAccumulator& accumulator)
      : accumulator_{accumulator}, stop_{accumulator.options_.stop} {}
  FleetUsage run();

 private:
  // A possible lane: with samples (`sum`), or a place without.
  struct Candidate {
    JobIndex job;
    SpotId device;
    SpotId spot;          // Device or slice.
    std::uint32_t worth;  // Lower is better: metric, label, samples.
    std::uint32_t sum;    // kNobody: no samples.
  };

  void set_window();
  Window found_window();
  Nanos last_known() const;
  std::map<JobIndex, Nanos> seen_until() const;
  void end_running();
  void check_whole_hosts();
  void count_shards();
  double parts_of(const FleetJob& job, std::optional<double> usual);
  void gather();
  void keep_best();
  void prefer_covered();
  Time covered_by(const Candidate& candidate) const;
  void pass_over(PassedOver::Why why, std::uint32_t lane, std::uint32_t better = kNobody);
  void tell_passed_over();
  void weigh_slices();
  void close_spells();
  void tell_lanes();
  void tell_beside();
  void tell_memory(Lane& lane, std::uint32_t sum);
  void tell_lane(const Candidate& candidate, const FleetJob& job, double weight);
  void split_jobs();
  FleetJob split(FleetJob job, double whole, double mean);
  void split_by_mean(FleetJob& job, double mean);
  void tell_assumptions();
  void assume_unread();
  void assume(model::Trouble trouble, std::string says, double share, std::uint64_t records);
  void drop_outside();
  void tell_capacity();
  void tell_unallocated(const std::map<WordId, HostCapacity*>& by_host);
  void tell_down();
  void tell_occupied();
  void spell_hosts();
  void count_samples();
  void name_hosts();
  void find_devices();
  double share_of(SpotId spot) const;
  Time cadence_of(const LaneSum& lane) const;
  Nanos allocated(Nanos start, Nanos end) const {
    return std::max(Nanos{}, std::min(end, window().end) - std::max(start, window().start));
  }
  const Window& window() const { return usage_.window; }

  UsageAccumulator& accumulator_;
  Stop stop_;
  FleetUsage usage_;
  // Accelerators with telemetry, of their own or of their slices.
  std::set<SpotId> devices_;
  std::map<SpotId, int> slices_on_;  // Number of slices with telemetry, by device.
  std::vector<bool> is_valid_;       // By lane: whether its job's accelerators are known.
  std::vector<Candidate> candidates_;
  // By reason, and by metric and input of the unused and the used samples.
  std::map<std::tuple<PassedOver::Why, WordId, std::uint32_t, WordId, std::uint32_t>, std::uint64_t>
      passed_over_;
};

}  // namespace amdahl::scan
