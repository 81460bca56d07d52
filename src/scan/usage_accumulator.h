// usage_accumulator.h: joins jobs with samples as they arrive, keeping sums, not samples.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fleet/intake.h"
#include "fleet/metrics.h"
#include "scan/down_time.h"
#include "scan/fleet_usage.h"
#include "scan/holders.h"
#include "scan/job_table.h"
#include "scan/lane_sums.h"
#include "scan/track.h"

namespace amdahl::scan {

struct UsageOptions {
  // Default: from the first sample to one cadence after the last; without samples from the first
  // start to the last end. The same for an end of Nanos::min() or Nanos::max().
  std::optional<Window> window{};
  double idle_below = 0.05;  // Idle threshold (0 to 1); 0 always counts as idle.
  Nanos now{};               // Unix time; 0: unknown. No running job lasts beyond it.
  // Timelines are kept for the jobs with the most accelerator time, up to this many accelerators
  // (at most 1 kB each), and for the jobs named here by id.
  std::size_t timeline_lanes = 32768;
  std::vector<std::string> timelines_of{};
  // Whether to stop at once; then the result of finish() is incomplete and must not be used.
  std::function<bool()> stop{};
  // Samples outside come from clocks that were not set: counted, not used.
  std::optional<Window> clocks{};
};

// The name of a series in a UsageAccumulator.
std::string series_name(const model::SeriesKey& key);

// An Intake for one scan. Memory grows with jobs and series, not with samples. Jobs, places and
// devices should precede their samples; later ones only get samples from then on, and came_late()
// says so. Not thread-safe.
class UsageAccumulator final : public fleet::Intake {
 public:
  explicit UsageAccumulator(UsageOptions options = {});
  UsageAccumulator(const UsageAccumulator&) = delete;
  UsageAccumulator& operator=(const UsageAccumulator&) = delete;

  // The name of the current input, for complaints.
  void input(std::string_view name);

  fleet::SeriesId series(const model::SeriesKey& key) override;
  void tell(const fleet::Record& record) override;

  // Totals so far, for progress and --explain-input.
  struct Counts {
    std::uint64_t jobs = 0;  // Attempts that were kept.
    std::uint64_t series = 0;
    std::uint64_t samples = 0;
    std::array<std::uint64_t, model::kTroubleKinds> troubles{};
  };
  Counts counts() const;

  // Whether jobs, places or names arrived after samples that may belong to them: a second pass may
  // give a better result.
  bool came_late();

  // Series with samples that came too far out of time order to be used. A second, sorted pass uses
  // them.
  std::vector<std::string> out_of_order() const;

  // Without a given window, if some samples are far from all others and from every job:
  // UsageOptions::clocks for a second pass.
  struct Clocks {
    Window window;
    std::uint64_t far = 0;  // Samples outside.
  };
  std::optional<Clocks> clocks() const;

  FleetUsage finish() &&;  // Joins everything received.

 private:
  friend class Finisher;
  void add(const fleet::Job& job);
  void add(const fleet::Assignment& place);
  void add(const fleet::Capacity& capacity);
  void add(const fleet::Occupancy& occupancy);
  void add(const fleet::Device& device);
  void add(const fleet::Parts& parts);
  void add(const fleet::Down& down);
  void add(const fleet::Samples& samples);
  void add(const fleet::Rows& rows);
  void add(const fleet::Complaint& complaint);
  void add(const fleet::Troubles& troubles) { count(troubles.trouble, troubles.count); }
  void settle();
  void learn_from(const model::SeriesKey& key);
  void begin_beside(std::uint32_t track, const fleet::BesideMetric& metric);
  void choose_timelines();
  void flatten(std::uint32_t track);
  void take(std::uint32_t track, fleet::Sample sample);
  void take_odd(std::uint32_t track, fleet::Sample sample);
  void vote_outside(Track& row, Time at);
  bool is_in_order(std::uint32_t track, fleet::Sample sample);
  void go_to(std::uint32_t track, Time at);
  void leave_out(std::uint32_t track, fleet::Sample sample);
  void take_late(std::uint32_t track, fleet::Sample sample);
  void take_free(std::uint32_t track, const Reading& reading);
  void accept(std::uint32_t track, Cursor& cursor, const Reading& reading);
  void share(std::uint32_t track, const Segment& segment, const Reading& reading);
  void add(LaneSum& lane, Cursor& cursor, const Reading& reading);
  void add_apart(LaneSum& lane, Time cadence, const Reading& reading);
  std::uint32_t lane_of(std::uint32_t track, Owner& owner);
  void begin(LaneSum& lane, Time at, Time cadence);
  void end_idle(LaneSum& lane, Time last);
  std::optional<Reading> reading_of(const Cursor& cursor, fleet::Sample sample);
  void count(model::Trouble trouble, std::uint64_t n = 1) {
    counts_[static_cast<std::size_t>(trouble)] += n;
  }

  UsageOptions options_;
  Window asked_;   // Unbounded if none was given.
  Window window_;  // The same, within `clocks`.
  Interner words_;
  JobTable jobs_{words_};
  Holders holders_{words_, jobs_};
  std::vector<Track> tracks_;
  std::vector<Cursor> cursors_;  // By track, like SeriesId.
  std::unordered_map<std::string, fleet::SeriesId> series_;
  std::vector<LaneSum> lanes_;
  std::unordered_map<std::uint64_t, std::uint32_t> lane_by_track_and_job_;
  Timelines timelines_;
  std::vector<LaneSpell> spells_;
  std::vector<bool> has_timeline_;              // By job.
  std::vector<JobName> named_;                  // Jobs whose timelines are always kept.
  std::map<JobIndex, model::Trouble> assumed_;  // Jobs counted by assumption.
  double accelerators_ = 0;                     // Of all jobs.
  std::array<Cadence, 48> metric_cadence_{};    // By row of the metric; those beside come last.
  bool is_stale_ = false;  // Jobs, places or names arrived since the last sample.
  bool is_late_ = false;   // Some of them arrived after samples.

  struct Capacity {
    WordId host, partition, kind;
    int accelerators;
  };
  struct Occupied {
    WordId partition;
    fleet::Occupancy occupancy;  // Without its partition.
  };
  std::vector<Capacity> capacities_;
  std::unordered_map<WordId, double> parts_;  // Of each accelerator of a host.
  DownTime down_;
  std::vector<Occupied> occupied_;

  // Totals of one input: job records, and those that could not be used.
  struct Input {
    std::uint64_t jobs = 0;
    std::uint64_t bad = 0;
  };
  std::vector<Input> told_by_{1};  // By number.
  std::string input_;
  std::vector<std::string> inputs_{""};  // By number, like Track::input.
  std::unordered_map<std::string, std::uint32_t> input_numbers_;
  std::uint32_t input_number_ = 0;
  std::array<std::uint64_t, model::kTroubleKinds> counts_{};
  std::array<int, model::kTroubleKinds> shown_{};
  std::vector<Complaint> complaints_;
  bool has_accounting_ = false;  // There was a job record.
  std::uint64_t samples_ = 0;
  std::uint64_t outside_ = 0;
};

}  // namespace amdahl::scan
