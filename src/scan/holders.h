// holders.h: who held which accelerator when: accounting's side of the join.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scan/job_table.h"
#include "scan/lane_sums.h"

namespace amdahl::scan {

using SpotId = std::uint32_t;  // An accelerator of a host.

struct Spot {
  WordId host = 0;
  WordId accelerator = 0;
  std::vector<JobIndex> holders;  // That accounting named, in the order read.
  bool has_telemetry = false;
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
  Holders(Words& words, JobTable& jobs) : words_{words}, jobs_{jobs} {}

  SpotId spot(WordId host, WordId accelerator);
  const Spot& operator[](SpotId spot) const { return spots_[spot]; }
  void observe(SpotId spot) { spots_[spot].has_telemetry = true; }
  SpotId size() const { return static_cast<SpotId>(spots_.size()); }

  void place(WordId job, WordId host, WordId accelerator) {
    places_.push_back({job, host, accelerator});
  }
  // Takes in places and jobs that came since the last call. Whether anything changed.
  // `unknown` is called with each job of a place that accounting does not list.
  bool settle(const std::function<void(WordId)>& unknown);
  bool is_placed(JobIndex job) const { return job < placed_.size() && placed_[job]; }

  // The jobs that held it, within `window`; a running job holds for ever.
  Segments segments_of(SpotId spot, const Window& window) const;
  // The attempts of one job, wherever they were.
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
  Hold hold_of(JobIndex job, bool whole_host, const Window& window) const;
  static Segments sweep(std::vector<Hold> holds);
  void add_place(const Place& place, const std::function<void(WordId)>& unknown);
  void claim_hosts(JobIndex job);
  bool is_on(JobIndex job, WordId host) const;

  Words& words_;
  JobTable& jobs_;
  std::vector<Spot> spots_;
  std::unordered_map<std::uint64_t, SpotId> by_name_;
  std::vector<Place> places_;  // Not yet settled.
  std::vector<SpotId> changed_;
  std::vector<bool> placed_;  // By job.
  JobIndex settled_ = 0;
  std::unordered_map<WordId, std::vector<HostClaim>> claims_;
};

}  // namespace amdahl::scan
