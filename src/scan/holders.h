// holders.h: which job held which accelerator when: the accounting side of the join.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fleet/device_names.h"
#include "scan/job_table.h"
#include "scan/lane_sums.h"
#include "scan/stop.h"

namespace amdahl::scan {

using SpotId = std::uint32_t;  // An accelerator of a host, or a slice.

struct Spot {
  WordId host = 0;
  WordId accelerator = 0;  // Index, or a name whose index is unknown.
  WordId slice = 0;        // MIG slice; 0: the whole device.
  SpotId device = 0;       // For a slice, its device; else itself.
  SpotId now = 0;          // The accelerator that its name turned out to mean.
  double share = 1;        // Of the device; 0: unknown.
  bool is_named = false;   // Known only by UUID or address.
  bool has_telemetry = false;
  std::vector<JobIndex> holders{};  // From accounting, in input order.
};

// Period between two changes of holders.
struct Segment {
  Time start = 0;
  Time end = 0;
  std::uint32_t owner = 0;  // First of `count` in Segments::owners.
  std::uint32_t count = 0;
};
struct Owner {
  JobIndex job = kNoJob;
  bool whole_host = false;
  std::uint32_t lane = 0xFFFFFFFF;  // Created with its first sample.
};
struct Segments {
  std::vector<Segment> list;  // Disjoint, ordered.
  std::vector<Owner> owners;
};

class Holders {
 public:
  Holders(Interner& words, JobTable& jobs) : words_{words}, jobs_{jobs} {}

  // The host's id in accounting, the same for all spellings.
  WordId host(std::string_view name);
  // As spelled in accounting, else as first seen.
  WordId spelling(WordId host) const;
  void seen_as(std::string_view name);  // In telemetry.
  bool is_told(WordId host) const { return host < told_.size() && told_[host]; }

  // A source's name for an accelerator.
  struct Name {
    std::string_view host{};
    std::string_view accelerator{};  // Index or another name; empty: see `uuid`.
    std::string_view uuid{};
    std::string_view slice{};
    std::string_view profile{};
    std::string_view kind{};
  };
  SpotId spot(const Name& name);
  // False if it contradicts earlier facts, which stay.
  bool learn(const fleet::Device& device);

  const Spot& operator[](SpotId spot) const { return spots_[spot]; }
  SpotId now(SpotId spot) const;  // The spot it is now known to be.
  bool is_here(SpotId spot) const { return spots_[spot].now == spot; }
  void observe(SpotId spot) { spots_[spot].has_telemetry = true; }
  SpotId size() const { return static_cast<SpotId>(spots_.size()); }

  void place(JobName job, WordId host, WordId accelerator) {
    places_.push_back({job, host, accelerator});
  }
  // Applies names, places and jobs added since the last call; returns whether anything changed.
  // Calls `unknown` for each job of a place that is not in accounting.
  bool settle(const std::function<void(JobName)>& unknown, const Stop& stop);
  bool is_placed(JobIndex job) const { return job < placed_.size() && placed_[job]; }

  // The jobs that held it (or the device that contains it) within `window`. A running job holds it
  // as far as is known, else without end.
  Segments segments_of(SpotId spot, const Window& window) const;
  // All attempts of one job: those on this host, if any were (several clusters may have used the
  // number). Samples labelled with a job that was running when its record was written extend it.
  Segments segments_of_job(JobIndex latest, WordId host, const Window& window) const;

  // Jobs without places that held a number of accelerators on each of their hosts.
  struct HostClaim {
    JobIndex job = kNoJob;
    float accelerators = 0;
  };
  const std::vector<HostClaim>& claims_on(WordId host) const;

 private:
  struct Place {
    JobName job{};
    WordId host = 0;
    WordId accelerator = 0;
  };
  struct Hold {
    Time start = 0;
    Time end = 0;
    JobIndex job = kNoJob;
    bool whole_host = false;
  };
  SpotId device_at(WordId host, WordId accelerator);
  SpotId slice_at(SpotId device, WordId slice);
  bool rename();
  bool rename(SpotId from);
  void move(SpotId from, SpotId to);
  Hold hold_of(JobIndex job, bool whole_host, const Window& window) const;
  static Segments sweep(std::vector<Hold> holds);
  void add_place(const Place& place, const std::function<void(JobName)>& unknown);
  void claim_hosts(JobIndex job);
  bool is_on(JobIndex job, WordId host) const;

  Interner& words_;
  JobTable& jobs_;
  fleet::DeviceNames names_;
  std::vector<std::string> fresh_names_;  // UUIDs without a spot yet.
  bool is_bus_fresh_ = false;             // New PCI addresses without a spot.
  std::vector<Spot> spots_;
  std::unordered_map<std::uint64_t, SpotId> by_name_;   // Host and accelerator.
  std::unordered_map<std::uint64_t, SpotId> by_slice_;  // Device and slice.
  // By name; those that may still be resolved.
  std::unordered_map<WordId, std::vector<SpotId>> named_;
  std::vector<Place> places_;  // Not yet settled.
  std::vector<SpotId> changed_;
  std::vector<bool> placed_;  // By job.
  JobIndex settled_ = 0;
  std::unordered_map<WordId, std::vector<HostClaim>> claims_;
  std::vector<bool> told_;                      // By host: mentioned in accounting.
  std::unordered_map<WordId, WordId> told_as_;  // Hosts with capital letters, as in accounting,
  std::unordered_map<WordId, WordId> seen_as_;  // and as in telemetry.
};

}  // namespace amdahl::scan
