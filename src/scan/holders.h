// holders.h: who held which accelerator when: accounting's side of the join.
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

using SpotId = std::uint32_t;  // An accelerator of a host, or a slice of one.

struct Spot {
  WordId host = 0;
  WordId accelerator = 0;  // Its index; or a name of which no index is known.
  WordId slice = 0;        // Of MIG; 0: the whole device.
  SpotId device = 0;       // Of a slice: whose it is. Else itself.
  SpotId now = 0;          // Another, once it is known which accelerator its name means.
  double share = 1;        // Of the device; 0: not known.
  bool is_named = false;   // By a UUID or an address alone.
  bool has_telemetry = false;
  std::vector<JobIndex> holders{};  // That accounting named, in the order read.
};

// From one change of holders to the next.
struct Segment {
  Time start = 0;
  Time end = 0;
  std::uint32_t owner = 0;  // First of `count` in Segments::owners.
  std::uint32_t count = 0;
};
struct Owner {
  JobIndex job = kNoJob;
  bool whole_host = false;
  std::uint32_t lane = 0xFFFFFFFF;  // Made with its first sample.
};
struct Segments {
  std::vector<Segment> list;  // Disjoint, in order.
  std::vector<Owner> owners;
};

class Holders {
 public:
  Holders(Interner& words, JobTable& jobs) : words_{words}, jobs_{jobs} {}

  // The word of a host that accounting tells of, the same for all spellings of its name.
  WordId host(std::string_view name);
  // As accounting spells it, else as it was spelled first.
  WordId spelling(WordId host) const;
  void seen_as(std::string_view name);  // By telemetry.
  bool is_told(WordId host) const { return host < told_.size() && told_[host]; }

  // What a source calls an accelerator.
  struct Name {
    std::string_view host{};
    std::string_view accelerator{};  // An index or another name; empty: `uuid` says it.
    std::string_view uuid{};
    std::string_view slice{};
    std::string_view profile{};
    std::string_view kind{};
  };
  SpotId spot(const Name& name);
  // False if that contradicts what was told before, which stays.
  bool learn(const fleet::Device& device);

  const Spot& operator[](SpotId spot) const { return spots_[spot]; }
  SpotId now(SpotId spot) const;  // Where it is as far as is known.
  bool is_here(SpotId spot) const { return spots_[spot].now == spot; }
  void observe(SpotId spot) { spots_[spot].has_telemetry = true; }
  SpotId size() const { return static_cast<SpotId>(spots_.size()); }

  void place(WordId job, WordId host, WordId accelerator) {
    places_.push_back({job, host, accelerator});
  }
  // Takes in names, places and jobs that came since the last call. Whether anything changed.
  // `unknown` is called with each job of a place that accounting does not list.
  bool settle(const std::function<void(WordId)>& unknown, const Stop& stop);
  bool is_placed(JobIndex job) const { return job < placed_.size() && placed_[job]; }

  // The jobs that held it, or the whole of it, within `window`. A job that runs holds for as long
  // as is known; for ever, if nothing is.
  Segments segments_of(SpotId spot, const Window& window) const;
  // The attempts of one job, wherever they were. Samples that name a job that ran when its record
  // was written say that it ran on.
  Segments segments_of_job(JobIndex latest, const Window& window) const;

  // Jobs without places that had so many accelerators of each of their hosts.
  struct HostClaim {
    JobIndex job = kNoJob;
    float accelerators = 0;
  };
  const std::vector<HostClaim>& claims_on(WordId host) const;

 private:
  struct Place {
    WordId job, host, accelerator;
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
  void add_place(const Place& place, const std::function<void(WordId)>& unknown);
  void claim_hosts(JobIndex job);
  bool is_on(JobIndex job, WordId host) const;

  Interner& words_;
  JobTable& jobs_;
  fleet::DeviceNames names_;
  std::vector<std::string> fresh_names_;  // UUIDs that the spots do not know yet.
  bool is_bus_fresh_ = false;             // Nor addresses.
  std::vector<Spot> spots_;
  std::unordered_map<std::uint64_t, SpotId> by_name_;      // Host and accelerator.
  std::unordered_map<std::uint64_t, SpotId> by_slice_;     // Device and slice.
  std::unordered_map<WordId, std::vector<SpotId>> named_;  // By name; those that may still move.
  std::vector<Place> places_;                              // Not yet settled.
  std::vector<SpotId> changed_;
  std::vector<bool> placed_;  // By job.
  JobIndex settled_ = 0;
  std::unordered_map<WordId, std::vector<HostClaim>> claims_;
  std::vector<bool> told_;                      // By host: accounting spoke of it.
  std::unordered_map<WordId, WordId> told_as_;  // Hosts with capital letters, by accounting;
  std::unordered_map<WordId, WordId> seen_as_;  // and by telemetry.
};

}  // namespace amdahl::scan
