#include "fleet/testing.h"

#include <fmt/core.h>

#include "base/check.h"

namespace amdahl::fleet {
namespace {

std::string shown(const model::SeriesKey& key) {
  std::string text = fmt::format("{}/{} {}", key.host, key.accelerator, key.metric);
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) text += fmt::format(" {}={}", name, value);
  };
  add("uuid", key.uuid);
  add("slice", key.slice);
  add("profile", key.profile);
  add("job", key.job);
  add("kind", key.kind);
  return text;
}

}  // namespace

void Recorder::job(const model::JobDraft& job, Where where) {
  Job kept{std::string(job.id),
           std::string(job.raw),
           std::string(job.name),
           std::string(job.user),
           std::string(job.account),
           std::string(job.partition),
           std::string(job.kind),
           std::string(job.family),
           std::string(job.script),
           std::string(job.hosts),
           std::string(job.metric),
           job,
           where};
  model::JobDraft& draft = kept.draft;
  for (std::string_view* view :
       {&draft.id, &draft.raw, &draft.name, &draft.user, &draft.account, &draft.partition,
        &draft.kind, &draft.family, &draft.script, &draft.hosts, &draft.metric}) {
    *view = {};
  }
  jobs.push_back(std::move(kept));
}

void Recorder::place(std::string_view job, std::string_view host, std::string_view accelerator) {
  places.push_back(fmt::format("{} {} {}", job, host, accelerator));
}

void Recorder::capacity(std::string_view host, std::string_view partition, std::string_view kind,
                        int accelerators) {
  capacities.push_back(fmt::format("{}|{}|{}|{}", host, partition, kind, accelerators));
}

void Recorder::occupancy(std::string_view partition, const Occupancy& occupancy) {
  occupancies.push_back({std::string(partition), occupancy});
}

void Recorder::device(const Device& device) {
  std::string text = fmt::format("{}/{}", device.host, device.accelerator);
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) text += fmt::format(" {}={}", name, value);
  };
  add("slice", device.slice);
  add("profile", device.profile);
  add("uuid", device.uuid);
  add("bus", device.bus);
  add("likely", device.likely);
  devices.push_back(std::move(text));
}

void Recorder::parts(std::string_view host, double of_each) {
  shares.push_back(fmt::format("{} {}", host, of_each));
}

void Recorder::down(const Down& down) {
  downs.push_back(fmt::format("{} {} {} {}", down.host, to_seconds(down.from), to_seconds(down.to),
                              down.accelerators));
}

SeriesId Recorder::series(const model::SeriesKey& key) {
  const auto [at, is_new] = ids_.emplace(shown(key), static_cast<SeriesId>(series_names.size()));
  if (is_new) {
    series_names.push_back(at->first);
    samples_of.emplace_back();
  }
  return at->second;
}

void Recorder::samples(SeriesId series, std::span<const Sample> samples) {
  CHECK(series < samples_of.size());
  samples_of[series].insert(samples_of[series].end(), samples.begin(), samples.end());
}

void Recorder::rows(std::span<const SeriesId> series, std::span<const Sample> samples) {
  CHECK(series.size() == samples.size());
  for (std::size_t i = 0; i < series.size(); ++i) {
    CHECK(series[i] < samples_of.size());
    samples_of[series[i]].push_back(samples[i]);
  }
}

void Recorder::trouble(model::Trouble trouble, Where where, std::string_view text) {
  complaints.push_back({trouble, where, std::string(text)});
  ++counts[trouble];
}

void Recorder::troubles(model::Trouble trouble, std::uint64_t count) { counts[trouble] += count; }

std::uint64_t Recorder::count(model::Trouble trouble) const {
  const auto at = counts.find(trouble);
  return at == counts.end() ? 0 : at->second;
}

std::size_t Recorder::sample_count() const {
  std::size_t count = 0;
  for (const auto& samples : samples_of) count += samples.size();
  return count;
}

}  // namespace amdahl::fleet
