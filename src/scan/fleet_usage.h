// fleet_usage.h: how a fleet used its accelerators: time of each job, its split, and timelines.
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
  Nanos end{};    // Exclusive.
  friend bool operator==(const Window&, const Window&) = default;
};

// Utilisation in one bin of a timeline. samples == 0: unobserved.
struct Bin {
  float sum = 0;  // Sum of the samples' utilisation.
  std::uint32_t samples = 0;
  std::uint32_t idle = 0;  // Samples below the idle threshold, or 0.
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

inline constexpr std::size_t kMostBins = 64;  // Per lane.

// Consecutive idle samples of one accelerator, without a gap of more than twice the cadence. Only
// spells of at least kLeastSpell are kept, so shorter idle timeouts cannot be replayed.
struct IdleSpell {
  Nanos first{};           // First sample; Unix time.
  Nanos last{};            // Last sample.
  double used_before = 0;  // Total utilisation of all earlier samples, without idle ones.
};
inline constexpr Nanos kLeastSpell = std::chrono::minutes{15};

// One accelerator of one job, observed by its best metric with samples.
struct Lane {
  std::uint32_t job = 0;  // Index into FleetUsage::jobs.
  WordId host = 0;
  WordId accelerator = 0;       // Index or UUID; with a slice, "3/7".
  WordId metric = 0;            // Empty without samples.
  std::uint32_t samples = 0;    // Valid ones within job and window.
  std::uint32_t idle = 0;       // At or below the idle threshold.
  std::uint32_t at_zero = 0;    // At exactly 0.
  double utilisation = 0;       // Sum over samples; divide by `samples`.
  double utilisation_idle = 0;  // The part of that sum from samples counted in `idle`.
  Nanos allocated{};            // The job's time in the window.
  Nanos observed{};       // The part covered by samples: gaps beyond twice the cadence are not.
  double weight = 1;      // Accelerators this lane represents: below 1 if shared.
  Nanos cadence{};        // Typical time between samples; 0: unknown.
  Nanos bin_width{};      // 0: no timeline.
  Nanos bin_start{};      // Unix time of the first bin.
  std::uint32_t bin = 0;  // Index of the first bin in FleetUsage::bins.
  std::uint32_t bins = 0;
  std::uint32_t spell = 0;  // Index of the first spell in FleetUsage::idle_spells.
  std::uint32_t spells = 0;
  double watts = 0;     // Mean power over `powered`.
  Nanos powered{};      // Time with samples of power.
  Nanos idle_empty{};   // Of its idle spells: no memory in use, so no process had it.
  Nanos idle_loaded{};  // Of them: with memory in use.
};

// Less memory in use than a process takes that only opens an accelerator.
inline constexpr double kEmptyBytes = 256.0 * 1024 * 1024;

struct HostCapacity {
  WordId host = 0;  // Empty: a whole partition.
  WordId partition = 0;
  WordId kind = 0;
  int accelerators = 0;  // As reported, or the number with telemetry.
  bool told = false;
  // Accelerator-seconds of samples without a known job, and how they were used.
  double unallocated = 0;
  double free_idle = 0;
  double free_use = 0;  // Productive, if anybody's.
};

// What an accelerator (or slice) did while no job is known to have held it, by the series that saw
// most. Accelerator-seconds.
struct FreeUse {
  WordId host = 0;
  WordId accelerator = 0;
  double all = 0;
  double idle = 0;
  double productive = 0;
};

// Accelerators of a host that were down; overlaps count once, and not while a job held them.
struct HostDown {
  WordId host = 0;
  WordId partition = 0;  // 0: unknown.
  double seconds = 0;    // Accelerator-seconds within the window.
};

// Time integrals of Occupancy records, in accelerator-seconds within the window.
struct Occupied {
  WordId partition = 0;
  double total = 0;
  double allocated = 0;
  double down = 0;
};

// The first few troubles of each kind, with their position.
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

// Samples within a job that are not used, because better data covers the same.
struct PassedOver {
  enum class Why : std::uint8_t {
    kBetter,    // Another metric or input covers the same accelerators and jobs.
    kSlices,    // Whole devices whose slices were observed.
    kLabelled,  // Hosts whose jobs have labelled samples.
    kUnplaced,  // Hosts shared by jobs whose accelerators are unknown.
  };
  Why why = Why::kBetter;
  WordId metric = 0;
  std::string input;        // Input that first reported the series.
  WordId better = 0;        // Metric used instead; 0: none.
  std::string better_from;  // Its input.
  std::uint64_t samples = 0;
};

// How an ambiguous input was read, if the totals depend on it.
struct Assumption {
  std::string about;          // "time zone", or the name of a trouble.
  std::string says;           // One sentence: what was assumed.
  std::uint64_t records = 0;  // Jobs or samples; 0: all.
  double share = 0;           // Of all accelerator time, or of all records if that is unknown.
};

// The order of everything depends on the input only: same input, same value, any number of
// threads.
struct FleetUsage {
  Interner words;
  Window window;
  double idle_below = 0.05;
  JobRows jobs;  // In input order; only those with accelerators in the window.
  std::vector<Lane> lanes;
  std::vector<Bin> bins;
  std::vector<IdleSpell> idle_spells;  // Grouped by lane, in time order.
  std::vector<HostCapacity> capacities;
  std::vector<FreeUse> free;  // By host and accelerator; only those with samples of no job.
  std::vector<Occupied> occupied;
  std::vector<HostDown> down;
  std::vector<TroubleCount> troubles;  // Those above 0, in enumeration order.
  std::vector<Complaint> complaints;
  std::vector<PassedOver> passed_over;  // By reason, metric and input.
  std::vector<Assumption> assumptions;  // Those that may change totals by more than 1 %.
  std::vector<WordId> free_metrics;     // Metrics of HostCapacity::free_use.

  // False: jobs are known only from labels, so unlabelled use may belong to anybody.
  bool has_accounting = true;
  bool knows_memory = false;          // Samples said how much memory of accelerators was in use.
  std::uint64_t samples = 0;          // All received, before any was dropped.
  std::uint64_t outside_samples = 0;  // Outside the window.
  std::uint64_t attributed = 0;       // Counted in a job's lane.
  double unclipped = 0;               // Accelerator-seconds of all jobs, ignoring the window.
  std::uint64_t outside = 0;          // Jobs with accelerators outside the window.
  Window accounted;                   // From the first start to the last end of a job.

  std::string_view text(WordId word) const { return words[word]; }
  std::string text(JobName job) const { return words[job]; }
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

// The split of one lane in accelerator-seconds (including weight), at the scan's threshold and at
// 0.
Split split_of(const Lane& lane);
Split split_at_zero(const Lane& lane);
Split total_of(const JobRows& jobs);

}  // namespace amdahl::scan
