// zone_finder.h: finds the time zone of local times from when accelerators became busy.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/intake.h"

namespace amdahl::scan {

// A host whose samples fit its jobs only if its clock is wrong.
struct OddClock {
  std::string host;
  int ahead_s = 0;            // Of the clock of the others.
  std::uint64_t fitting = 0;  // Starts and ends that match then,
  std::uint64_t as_is = 0;    // and as it is,
  std::uint64_t of = 0;       // out of this many.
};

// How well local times match times with a known zone.
struct ZoneFit {
  int offset_s = 0;           // Zone of the local side, in seconds east of UTC.
  std::uint64_t fitting = 0;  // Starts and ends of jobs that match a change in telemetry,
  std::uint64_t of = 0;       // out of this many that depend on the offset.
  int next_offset_s = 0;      // Next best offset,
  std::uint64_t next = 0;     // and how many match with it.
  double share = 0;           // Share of these jobs in the accelerator time covered by samples.
  bool is_sure = false;
  std::vector<OddClock> odd{};  // If it is sure: hosts that it does not hold for.
};

// Receives jobs from one side and samples from the other; one side is in local time. Memory grows
// with jobs, up to half a million, and with changes between busy and idle. Idea: a job's
// accelerators become busy soon after its start and idle at its end; at the right offset this
// holds for most jobs, at others by chance.
class ZoneFinder {
 public:
  // Which side is in local time.
  enum class Local : std::uint8_t { kJobs, kSamples };
  explicit ZoneFinder(Local local) : local_{local} {}

  void job(const model::JobDraft& job);
  // `series` is the caller's number; metrics that do not show utilisation are ignored.
  void series(fleet::SeriesId series, const model::SeriesKey& key);
  void sample(fleet::SeriesId series, fleet::Sample sample);

  ZoneFit find() &&;

 private:
  // Where events happen: a host, or samples labelled with a job.
  struct Place {
    std::vector<std::int64_t> rises;  // Unix seconds when one of its accelerators became busy,
    std::vector<std::int64_t> falls;  // and when it was last busy.
  };
  struct Track {
    std::uint32_t place = 0;
    float busy_from = 0;
    bool is_used = false;
    std::uint32_t edges = 0;
    std::int64_t last = 0;
    std::int64_t last_busy = 0;
    std::int64_t apart = 0;  // Shortest time between two samples.
  };
  struct Job {
    std::string id;
    std::string raw;
    std::string host;
    std::int64_t start = 0;
    std::int64_t end = 0;  // 0: unknown.
    double accelerators = 0;
  };
  // A start or end of a job, and when something changed where it ran.
  struct Event {
    std::int64_t at = 0;
    const std::vector<std::int64_t>* edges = nullptr;
    bool is_end = false;
  };

  std::uint32_t place_of(const std::string& name);
  const Place* place_of(const Job& job) const;
  std::vector<Event> events(double& share) const;
  bool may_lie_inside(std::int64_t at) const;
  bool fits(const Event& event, std::int64_t offset, std::int64_t after) const;
  std::vector<OddClock> odd_clocks(const std::vector<Event>& events, std::int64_t offset,
                                   std::int64_t after) const;

  Local local_;
  std::map<std::string, std::uint32_t> places_by_name_;
  std::vector<Place> places_;
  std::vector<Track> tracks_;
  std::vector<Job> jobs_;
  std::uint64_t told_ = 0;  // All jobs; if there are too many, the last are kept.
  std::int64_t first_ = 0;  // Over all samples.
  std::int64_t last_ = 0;
  std::int64_t apart_ = 0;
};

// "+02:00", "UTC".
std::string show_offset(int seconds);

}  // namespace amdahl::scan
