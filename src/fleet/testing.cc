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

void Recorder::tell(const Record& record) {
  std::visit([this](const auto& one) { keep(one); }, record);
}

void Recorder::keep(const fleet::Job& told) {
  const auto& [job, where] = told;
  Job kept{std::string(job.id),
           std::string(job.raw),
           std::string(job.cluster),
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
       {&draft.id, &draft.raw, &draft.cluster, &draft.name, &draft.user, &draft.account,
        &draft.partition, &draft.kind, &draft.family, &draft.script, &draft.hosts, &draft.metric}) {
    *view = {};
  }
  jobs.push_back(std::move(kept));
}

void Recorder::keep(const Assignment& place) {
  places.push_back(fmt::format("{} {} {}", place.job, place.host, place.accelerator));
}

void Recorder::keep(const Capacity& told) {
  capacities.push_back(
      fmt::format("{}|{}|{}|{}", told.host, told.partition, told.kind, told.accelerators));
}

void Recorder::keep(const Occupancy& occupancy) {
  occupancies.push_back({std::string(occupancy.partition), occupancy});
  occupancies.back().occupancy.partition = {};
}

void Recorder::keep(const Device& device) {
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

void Recorder::keep(const Parts& parts) {
  shares.push_back(fmt::format("{} {}", parts.host, parts.of_each));
}

void Recorder::keep(const Down& down) {
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

void Recorder::keep(const Samples& told) {
  CHECK(told.series < samples_of.size());
  auto& samples = samples_of[told.series];
  samples.insert(samples.end(), told.samples.begin(), told.samples.end());
}

void Recorder::keep(const Rows& rows) {
  CHECK(rows.series.size() == rows.samples.size());
  for (std::size_t i = 0; i < rows.series.size(); ++i) {
    CHECK(rows.series[i] < samples_of.size());
    samples_of[rows.series[i]].push_back(rows.samples[i]);
  }
}

void Recorder::keep(const fleet::Complaint& told) {
  complaints.push_back({told.trouble, told.where, std::string(told.text)});
  ++counts[told.trouble];
}

void Recorder::keep(const Troubles& troubles) { counts[troubles.trouble] += troubles.count; }

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
