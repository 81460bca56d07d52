// fleet_usage.h: what a fleet did with its accelerators: each job's time, split, and over time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "model/fleet.h"
#include "scan/anatomy.h"
#include "scan/interner.h"
#include "scan/job_rows.h"

namespace amdahl::scan {

struct Window {
  Nanos start{};  // Unix time.
  Nanos end{};    // Not in it.
  friend bool operator==(const Window&, const Window&) = default;
};

// Utilisation over one bin of a timeline. Empty (samples == 0): nothing was observed there.
struct Bin {
  float sum = 0;  // Of the samples' utilisation.
  std::uint32_t samples = 0;
  std::uint32_t idle = 0;  // Of them below the idle threshold, or 0.
  std::uint16_t most = 0;  // In ten-thousandths.
};
inline void merge(Bin& into, const Bin& bin) {
  if (bin.samples == 0) return;
  into.most = into.samples == 0 ? bin.most : std::max(into.most, bin.most);
  into.sum += bin.sum;
  into.samples += bin.samples;
  into.idle += bin.idle;
}
inline double mean_of(const Bin& bin) {
  return bin.samples == 0 ? std::numeric_limits<double>::quiet_NaN()
                          : static_cast<double>(bin.sum) / bin.samples;
}
inline double most_of(const Bin& bin) { return bin.most / 10000.0; }

inline constexpr std::size_t kMostBins = 64;  // Of a lane.

// Samples of one accelerator that were all idle, without a gap of more than twice the cadence.
// Spells of kLeastSpell or more are kept, so that a shorter idle timeout cannot be replayed.
struct IdleSpell {
  Nanos first{};           // Of its samples; Unix time.
  Nanos last{};            // Of its samples.
  double used_before = 0;  // The utilisation of all samples before it, idle ones not counted.
};
inline constexpr Nanos kLeastSpell = std::chrono::minutes{15};

// One accelerator of one job, observed by one metric: the best that had samples.
struct Lane {
  std::uint32_t job = 0;  // Index into FleetUsage::jobs.
  WordId host = 0;
  WordId accelerator = 0;       // Its index or uuid; with a slice as "3/7".
  WordId metric = 0;            // Empty if it has no samples.
  std::uint32_t samples = 0;    // Valid ones in the job's time and the window.
  std::uint32_t idle = 0;       // At or below the idle threshold.
  std::uint32_t at_zero = 0;    // At exactly 0.
  double utilisation = 0;       // Sum over samples; divide by `samples`.
  double utilisation_idle = 0;  // The part of that sum from samples counted in `idle`.
  Nanos allocated{};            // The job's time in the window.
  Nanos observed{};             // Of it covered by samples: gaps beyond twice the cadence are not.
  double weight = 1;            // Accelerators this lane stands for: less than 1 where shared.
  Nanos cadence{};              // Usual time between samples; 0: not known.
  Nanos bin_width{};            // 0: no timeline was kept.
  Nanos bin_start{};            // Unix time of the first bin.
  std::uint32_t bin = 0;        // Index of the first bin in FleetUsage::bins.
  std::uint32_t bins = 0;
  std::uint32_t spell = 0;  // Index of the first spell in FleetUsage::idle_spells.
  std::uint32_t spells = 0;
};

struct HostCapacity {
  WordId host = 0;  // Empty: of a partition as a whole.
  WordId partition = 0;
  WordId kind = 0;
  int accelerators = 0;  // As told, or as many as had telemetry.
  bool told = false;
  // Accelerator-seconds of samples while no job is known to have held them, and what they were.
  double unallocated = 0;
  double free_idle = 0;
  double free_use = 0;  // Productive, if anybody's.
};

// What was down of a host's accelerators, each moment once and not while a job held them.
struct HostDown {
  WordId host = 0;
  WordId partition = 0;  // 0: not known.
  double seconds = 0;    // Accelerator-seconds within the window.
};

// Sums over time of what Intake::occupancy told, in accelerator-seconds within the window.
struct Occupied {
  WordId partition = 0;
  double total = 0;
  double allocated = 0;
  double down = 0;
};

// The first few of each kind of trouble, with their place.
struct Complaint {
  model::Trouble trouble{};
  std::string input;  // Its name, as given.
  std::uint64_t line = 0;
  std::uint64_t byte = 0;
  std::string text;
};
struct TroubleCount {
  model::Trouble trouble{};
  std::uint64_t count = 0;
};

// Samples in the time of a job that count for none, because something tells more of the same.
struct PassedOver {
  enum class Why : std::uint8_t {
    kBetter,    // Another metric or input tells of the same accelerators and jobs.
    kSlices,    // Of whole devices whose slices were observed.
    kLabelled,  // Of hosts whose jobs have samples that name them.
    kUnplaced,  // Of hosts of which a job had a part, and nobody says which.
  };
  Why why = Why::kBetter;
  WordId metric = 0;
  std::string input;        // That told of the series first.
  WordId better = 0;        // The metric that counts instead; 0: none.
  std::string better_from;  // Its input.
  std::uint64_t samples = 0;
};

// How something was read that could have been read otherwise, and that the totals depend on.
struct Assumption {
  std::string about;          // "time zone", or the name of a trouble.
  std::string says;           // One sentence, with what was taken.
  std::uint64_t records = 0;  // Jobs or samples; 0: all.
  double share = 0;           // Of all accelerator time, or of all records where that is not known.
};

// The order of everything here depends on the input alone: same input, same value, any threads.
struct FleetUsage {
  Interner words;
  Window window;
  double idle_below = 0.05;
  JobRows jobs;  // In the order read; those that held accelerators in the window.
  std::vector<Lane> lanes;
  std::vector<Bin> bins;
  std::vector<IdleSpell> idle_spells;  // Of each lane together, in order of time.
  std::vector<HostCapacity> capacities;
  std::vector<Occupied> occupied;
  std::vector<HostDown> down;
  std::vector<TroubleCount> troubles;  // Those above 0, in the order of the enumeration.
  std::vector<Complaint> complaints;
  std::vector<PassedOver> passed_over;  // By reason, metric and input.
  std::vector<Assumption> assumptions;  // Those that may change totals by more than 1 %.
  std::vector<WordId> free_metrics;     // That HostCapacity::free_use is by.

  // False: nobody told of jobs but by labels, so that what has no label may have been anybody's.
  bool has_accounting = true;
  std::uint64_t samples = 0;          // All that came, before any was dropped.
  std::uint64_t outside_samples = 0;  // Of them not in the window.
  std::uint64_t attributed = 0;       // In some job's lane that was chosen.
  double unclipped = 0;               // Accelerator-seconds of all jobs, the window not regarded.
  std::uint64_t outside = 0;          // Jobs that held accelerators, but not in the window.
  Window accounted;                   // From the first start of a job to the last end of one.

  std::string_view text(WordId word) const { return words[word]; }
  std::span<const Lane> lanes_of(const FleetJob& job) const {
    return std::span(lanes).subspan(job.lane, job.lanes);
  }
  std::span<const Bin> bins_of(const Lane& lane) const {
    return std::span(bins).subspan(lane.bin, lane.bins);
  }
  std::span<const IdleSpell> spells_of(const Lane& lane) const {
    return std::span(idle_spells).subspan(lane.spell, lane.spells);
  }
};

// "240 samples of gpu_util in a.csv: not used, because ...".
std::string describe(const FleetUsage& usage, const PassedOver& row);

// The split of one lane at the scan's threshold, in accelerator-seconds (weight included), and at
// 0.
Split split_of(const Lane& lane);
Split split_at_zero(const Lane& lane);
Split total_of(const JobRows& jobs);

}  // namespace amdahl::scan
