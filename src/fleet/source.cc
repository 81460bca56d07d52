#include "fleet/source.h"

#include <array>
#include <string>

#include <fmt/format.h>

#include "base/text.h"
#include "fleet/clustercockpit/clustercockpit.h"
#include "fleet/csv/csv.h"
#include "fleet/csv_long/csv_long.h"
#include "fleet/local/local.h"
#include "fleet/nvidia_smi/nvidia_smi.h"
#include "fleet/prometheus/prometheus.h"
#include "fleet/slurm/slurm.h"
#include "fleet/sonar/sonar.h"

namespace amdahl::fleet {
namespace {

constexpr auto kSources = std::to_array<Source>({
    {"local", "the usage records that `amdahl run` leaves", Gives::kBoth, local::claims,
     local::make},
    {"prometheus", "answers of Prometheus to query_range", Gives::kSamples, prometheus::claims,
     prometheus::make},
    {"slurm", "what sacct, scontrol, sinfo and sacctmgr print", Gives::kJobs, slurm::claims,
     slurm::make},
    {"sonar", "sacct as sonar writes it, key=value", Gives::kJobs, sonar::claims, sonar::make},
    {"csv", "tables whose columns are known, or any with a mapping", Gives::kBoth, csv::claims,
     csv::make},
    {"csv-long", "long tables of samples: time, host, gpu, a column a metric", Gives::kSamples,
     csv_long::claims, csv_long::make},
    {"nvidia-smi", "nvidia-smi --query-gpu=... --format=csv", Gives::kSamples, nvidia_smi::claims,
     nvidia_smi::make},
    {"clustercockpit", "jobs of a ClusterCockpit archive (meta.json)", Gives::kJobs,
     clustercockpit::claims_meta, clustercockpit::make_meta},
    {"clustercockpit-data", "samples of a ClusterCockpit archive (data.json)", Gives::kSamples,
     clustercockpit::claims_data, clustercockpit::make_data},
});

std::string names_of(std::span<const Source> some) {
  std::vector<std::string> names;
  for (const Source& source : some) names.emplace_back(source.name);
  return join(names, ", ");
}

// What people see of bytes that nobody reads.
std::string shown(std::string_view bytes) {
  std::string text = clip(bytes.substr(0, 64), 32);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return text;
}

}  // namespace

std::span<const Source> sources() { return kSources; }

Result<Source> source_for(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, kHeadBytes);
  std::vector<Source> claiming;
  for (const Source& source : kSources) {
    if (source.claims(head)) claiming.push_back(source);
  }
  if (claiming.size() == 1) return claiming.front();
  if (claiming.empty()) {
    return Error{Error::Kind::kUnsupported,
                 bytes.empty() ? "is empty"
                               : fmt::format("begins with '{}', which no source reads; sources: {}",
                                             shown(bytes), names_of(kSources))};
  }
  return Error{
      Error::Kind::kUnsupported,
      fmt::format("is claimed by several sources, name one with --source: {}", names_of(claiming))};
}

Result<Source> source_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Source& source : kSources) {
    if (source.name == name) return source;
    names.push_back(source.name);
  }
  const auto near = did_you_mean(name, names);
  return bad_input(fmt::format("no source is called '{}'{}; sources: {}", name,
                               near ? fmt::format(", did you mean '{}'?", *near) : "",
                               names_of(kSources)));
}

}  // namespace amdahl::fleet
