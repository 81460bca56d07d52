// zone_finder.h: which time zone local times are of, told from when accelerators became busy.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/intake.h"

namespace amdahl::scan {

// How local times fit to those of which the zone is known.
struct ZoneFit {
  int offset_s = 0;           // East of Greenwich: the zone of the local side.
  std::uint64_t fitting = 0;  // Starts and ends of jobs at which telemetry changes, with it;
  std::uint64_t of = 0;       // of so many that the offset decides about.
  int next_offset_s = 0;      // The offset that fits next best,
  std::uint64_t next = 0;     // and how many it makes fit.
  double share = 0;           // Of the jobs' accelerator time in the samples' time: of those jobs.
  bool is_sure = false;
};

// Is told the jobs of inputs on one side and the samples of inputs on the other; one of the sides
// is in local time. Memory grows with jobs, up to half a million, and with how often accelerators
// became busy or idle. What it finds: a job's accelerators become busy soon after its start and
// idle at its end, at one offset for most of the jobs and at all others by chance.
class ZoneFinder {
 public:
  // Whose times are local: of the jobs, or of the samples.
  enum class Local : std::uint8_t { kJobs, kSamples };
  explicit ZoneFinder(Local local) : local_{local} {}

  void job(const model::JobDraft& job);
  // `series` is the caller's number; metrics that say nothing of usage are passed over.
  void series(fleet::SeriesId series, const model::SeriesKey& key);
  void sample(fleet::SeriesId series, fleet::Sample sample);

  ZoneFit find() &&;

 private:
  // Where something happens: a host, or the samples that name a job.
  struct Place {
    std::vector<std::int64_t> rises;  // Unix seconds at which one of its accelerators became busy,
    std::vector<std::int64_t> falls;  // and was busy for the last time.
  };
  struct Track {
    std::uint32_t place = 0;
    float busy_from = 0;
    bool is_used = false;
    std::uint32_t edges = 0;
    std::int64_t last = 0;
    std::int64_t last_busy = 0;
    std::int64_t apart = 0;  // The least time between two samples.
  };
  struct Job {
    std::string id;
    std::string raw;
    std::string host;
    std::int64_t start = 0;
    std::int64_t end = 0;  // 0: not known.
    double accelerators = 0;
  };
  // A start or an end of a job, and when something changed where the job was.
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

  Local local_;
  std::map<std::string, std::uint32_t> places_by_name_;
  std::vector<Place> places_;
  std::vector<Track> tracks_;
  std::vector<Job> jobs_;
  std::uint64_t told_ = 0;  // Jobs in all; of more than fit, the last are kept.
  std::int64_t first_ = 0;  // Of all samples.
  std::int64_t last_ = 0;
  std::int64_t apart_ = 0;
};

// "+02:00", "UTC".
std::string show_offset(int seconds);

}  // namespace amdahl::scan
