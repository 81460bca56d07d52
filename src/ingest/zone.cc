#include "ingest/zone.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/core.h>

#include "base/text.h"

namespace amdahl::ingest {
namespace {

using scan::ZoneFinder;

// The first few inputs with times without a zone.
std::string local_names(const std::vector<Found>& files) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> names;
  for (const Found& found : files) {
    if (found.is_local) names.push_back(found.input.name);
  }
  const std::size_t more = names.size() > kShown ? names.size() - kShown : 0;
  names.resize(names.size() - more);
  return join(names, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string fit_of(const scan::ZoneFit& fit) {
  return fmt::format(
      "with {} telemetry changes at {} of {} starts and ends of jobs (next best: {}, {})",
      scan::show_offset(fit.offset_s), fit.fitting, fit.of, scan::show_offset(fit.next_offset_s),
      fit.next);
}

}  // namespace

std::optional<ZoneFinder::Local> local_side(const std::vector<Found>& files, Live live) {
  Live local;
  Live known = live;
  for (const Found& found : files) {
    Live& side = found.is_local ? local : known;
    side.jobs = side.jobs || found.gives != fleet::Gives::kSamples;
    side.samples = side.samples || found.gives != fleet::Gives::kJobs;
  }
  if (local.jobs && known.samples) return ZoneFinder::Local::kJobs;
  if (local.samples && known.jobs) return ZoneFinder::Local::kSamples;
  return std::nullopt;
}

void ZoneTap::tell(const fleet::Record& record) {
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { pass(one); }) {
          pass(one);
        } else {
          next_.tell(record);
        }
      },
      record);
}

void ZoneTap::pass(fleet::Job job) {
  for (Nanos model::JobDraft::*const time :
       {&model::JobDraft::submit, &model::JobDraft::start, &model::JobDraft::end}) {
    job.draft.*time = known(job.draft.*time);
  }
  if (finds(ZoneFinder::Local::kJobs, is_local_)) finder_->job(job.draft);
  next_.tell(job);
}

void ZoneTap::pass(fleet::Occupancy occupancy) {
  occupancy.at = known(occupancy.at);
  next_.tell(occupancy);
}

void ZoneTap::pass(fleet::Down down) {
  down.from = known(down.from);
  down.to = known(down.to);
  next_.tell(down);
}

fleet::SeriesId ZoneTap::series(const model::SeriesKey& key) {
  const fleet::SeriesId id = next_.series(key) * 2 + (is_local_ ? 1 : 0);
  if (finds(ZoneFinder::Local::kSamples, is_local_)) finder_->series(id, key);
  return id;
}

void ZoneTap::pass(const fleet::Samples& told) {
  const fleet::SeriesId series = told.series;
  if (finds(ZoneFinder::Local::kSamples, is_local(series))) {
    for (const fleet::Sample& sample : told.samples) finder_->sample(series, sample);
  }
  if (!is_local(series) || shift_ == Nanos{}) return next_.samples(series / 2, told.samples);
  samples_.assign(told.samples.begin(), told.samples.end());
  for (fleet::Sample& sample : samples_) sample.at -= shift_;
  next_.samples(series / 2, samples_);
}

void ZoneTap::pass(const fleet::Rows& rows) {
  ids_.assign(rows.series.begin(), rows.series.end());
  samples_.assign(rows.samples.begin(), rows.samples.end());
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (finds(ZoneFinder::Local::kSamples, is_local(ids_[i]))) {
      finder_->sample(ids_[i], samples_[i]);
    }
    if (is_local(ids_[i])) samples_[i].at -= shift_;
    ids_[i] /= 2;
  }
  next_.rows(ids_, samples_);
}

Error unknown_zone(const std::vector<Found>& files, const scan::ZoneFit& fit) {
  const std::string found = fit.fitting == 0
                                ? std::string("the data do not show it")
                                : fmt::format("the data do not show it clearly: {}", fit_of(fit));
  return Error{Error::Kind::kBadInput,
               fmt::format("times of {} have no time zone, those of other inputs do, and "
                           "{}; pass the cluster's zone: --time-zone Europe/Oslo, "
                           "--time-zone +02:00 or --time-zone UTC",
                           local_names(files), found)};
}

scan::Assumption found_zone(const std::vector<Found>& files, const scan::ZoneFit& fit) {
  return {"time zone",
          fmt::format("times of {} have no time zone: assumed {}, since {}; override it with "
                      "--time-zone",
                      local_names(files), scan::show_offset(fit.offset_s), fit_of(fit)),
          0, fit.share};
}

std::optional<scan::Assumption> odd_clocks(const scan::ZoneFit& fit) {
  constexpr std::size_t kShown = 3;
  if (fit.odd.empty()) return std::nullopt;
  std::vector<std::string> hosts;
  for (std::size_t i = 0; i < std::min(kShown, fit.odd.size()); ++i) {
    const scan::OddClock& odd = fit.odd[i];
    hosts.push_back(
        fmt::format("{} ({} {}: then telemetry changes at {} of {} starts and ends of "
                    "its jobs, as it is at {})",
                    odd.host, show_duration(std::chrono::seconds(std::abs(odd.ahead_s))),
                    odd.ahead_s > 0 ? "ahead" : "behind", odd.fitting, odd.of, odd.as_is));
  }
  const std::size_t more = fit.odd.size() - hosts.size();
  return scan::Assumption{
      "clock of a host",
      fmt::format("the clocks of these hosts seem wrong: {}{}; their samples were joined as they "
                  "are, so set the clocks, and leave out these hosts' files until then",
                  join(hosts, ", "), more > 0 ? fmt::format(" and {} more", more) : ""),
      0, 0};
}

}  // namespace amdahl::ingest
