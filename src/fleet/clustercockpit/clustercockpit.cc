#include "fleet/clustercockpit/clustercockpit.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/core.h>
#include <simdjson.h>

#include "base/text.h"
#include "fleet/hostlist.h"
#include "fleet/metrics.h"
#include "fleet/values.h"

namespace amdahl::fleet::clustercockpit {
namespace {

using model::JobState;
using model::Trouble;
using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// A document of one job; one that is larger is none.
constexpr std::size_t kLargest = std::size_t{1} << 30;
constexpr std::string_view kUtilisation = "acc_utilization";

std::string_view text(element in, std::string_view key) {
  std::string_view found;
  return in[key].get(found) == simdjson::SUCCESS ? found : std::string_view();
}

std::optional<double> number(element in, std::string_view key) {
  double found = 0;
  if (in[key].get(found) != simdjson::SUCCESS || !std::isfinite(found)) return std::nullopt;
  return found;
}

Nanos seconds(std::optional<double> count) {
  if (!count || *count <= 0 || *count > 9e9) return {};
  return from_seconds(*count);
}

// The job's number, which releases write as a number or as text.
std::string id_of(element meta) {
  for (const std::string_view key : {"jobId", "jobID", "jobid"}) {
    std::int64_t whole = 0;
    if (meta[key].get(whole) == simdjson::SUCCESS) return std::to_string(whole);
    if (const std::string_view word = text(meta, key); !word.empty()) return std::string(word);
  }
  return {};
}

struct StateWord {
  std::string_view word;
  JobState state;
};
constexpr StateWord kStates[] = {
    {"completed", JobState::kCompleted}, {"running", JobState::kRunning},
    {"pending", JobState::kPending},     {"failed", JobState::kFailed},
    {"boot_fail", JobState::kNodeFail},  {"cancelled", JobState::kCancelled},
    {"canceled", JobState::kCancelled},  {"stopped", JobState::kCancelled},
    {"deadline", JobState::kTimeout},    {"timeout", JobState::kTimeout},
    {"node_fail", JobState::kNodeFail},  {"preempted", JobState::kPreempted},
    {"suspended", JobState::kRunning},   {"out_of_memory", JobState::kOutOfMemory},
};

JobState state_of(std::string_view word) {
  for (const StateWord& row : kStates) {
    if (row.word == word) return row.state;
  }
  return JobState::kOther;
}

// Collects the document, and reads it when it is whole.
class DocumentReader : public Reader {
 public:
  Result<> feed(std::string_view bytes) final {
    if (bytes_.size() + bytes.size() > kLargest) return bad_input("is larger than 1 GiB");
    bytes_ += bytes;
    return Ok{};
  }

  Result<> finish() final {
    simdjson::dom::parser parser;
    element document;
    const auto error = parser.parse(bytes_.data(), bytes_.size()).get(document);
    if (error != simdjson::SUCCESS) {
      return bad_input(fmt::format("is not JSON: {}", simdjson::error_message(error)));
    }
    return read(document);
  }

 protected:
  virtual Result<> read(element document) = 0;

 private:
  std::string bytes_;
};

class MetaReader final : public DocumentReader {
 public:
  explicit MetaReader(Intake& intake) : intake_{intake} {}

 private:
  Result<> read(element meta) override {
    const std::string id = id_of(meta);
    if (id.empty()) return bad_input("/jobId: is missing");
    model::JobDraft job;
    std::string hosts;
    int placed = 0;
    array resources;
    if (meta["resources"].get(resources) == simdjson::SUCCESS) {
      for (const element resource : resources) {
        const std::string_view host = short_host(text(resource, "hostname"));
        if (host.empty()) continue;
        if (!hosts.empty()) hosts += ',';
        hosts += host;
        ++job.host_count;
        placed += places(id, host, resource);
      }
    }
    job.id = id;
    job.user = text(meta, "user");
    job.account = text(meta, "project");
    job.partition = text(meta, "partition");
    job.kind = text(meta, "subCluster");
    element more;
    if (meta["metaData"].get(more) == simdjson::SUCCESS) job.name = text(more, "jobName");
    job.hosts = hosts;
    job.state = state_of(text(meta, "jobState"));
    job.submit = seconds(number(meta, "submitTime"));
    job.start = seconds(number(meta, "startTime"));
    const auto duration = number(meta, "duration");
    if (duration && *duration >= 0 && *duration < 9e9) job.elapsed = from_seconds(*duration);
    if (job.state != JobState::kRunning && job.start > Nanos{} && job.elapsed >= Nanos{}) {
      job.end = job.start + job.elapsed;
    }
    const double said = number(meta, "numAcc").value_or(placed);
    job.accelerators = said >= 0 && said <= 1e6 ? said : placed;
    add_mean(meta, job);
    intake_.job(job, {});
    return Ok{};
  }

  int places(const std::string& id, std::string_view host, element resource) {
    int placed = 0;
    array accelerators;
    if (resource["accelerators"].get(accelerators) != simdjson::SUCCESS) return 0;
    for (const element accelerator : accelerators) {
      std::string_view name;
      std::int64_t index = 0;
      if (accelerator.get(name) == simdjson::SUCCESS) {
        intake_.tell(Assignment{id, host, name});
      } else if (accelerator.get(index) == simdjson::SUCCESS) {
        intake_.tell(Assignment{id, host, std::to_string(index)});
      } else {
        continue;
      }
      ++placed;
    }
    return placed;
  }

  void add_mean(element meta, model::JobDraft& job) {
    element statistics;
    if (meta["statistics"].get(statistics) != simdjson::SUCCESS) return;
    element utilisation;
    if (statistics[kUtilisation].get(utilisation) != simdjson::SUCCESS) return;
    const auto mean = number(utilisation, "avg");
    if (!mean) return;
    if (is_blank_number(*mean)) {
      intake_.trouble(Trouble::kBlankValue, {}, "statistics/acc_utilization/avg");
      return;
    }
    if (*mean < 0 || *mean > 100) {
      intake_.trouble(Trouble::kOutOfRange, {},
                      fmt::format("statistics/acc_utilization/avg is {} %", *mean));
      return;
    }
    job.mean_utilisation = *mean / 100;
    job.metric = kUtilisation;
  }

  Intake& intake_;
};

class DataReader final : public DocumentReader {
 public:
  DataReader(Intake& intake, const ReaderOptions& options)
      : intake_{intake}, of_{archive_path(options.path)} {}

 private:
  Result<> read(element data) override {
    if (!of_) {
      return bad_input(
          "has no job id; leave it in the folders of its archive: "
          "CLUSTER/1403/244/1608923076/data.json belongs to job 1403244");
    }
    object metrics;
    if (data.get(metrics) != simdjson::SUCCESS) return bad_input("is not an object of metrics");
    for (const auto& [metric, scopes] : metrics) {
      element scope;
      if (scopes["accelerator"].get(scope) != simdjson::SUCCESS) continue;
      if (!find_usage_metric(metric) && !find_beside_metric(metric)) {
        intake_.troubles(Trouble::kOtherMetric, 1);
        continue;
      }
      const auto step = number(scope, "timestep");
      array all;
      if (!step || *step < 1e-3 || *step > 1e6 || scope["series"].get(all) != simdjson::SUCCESS) {
        intake_.trouble(Trouble::kBadLine, {},
                        fmt::format("{}/accelerator has no timestep or no series", metric));
        continue;
      }
      for (const element one : all) series(metric, from_seconds(*step), one);
    }
    return Ok{};
  }

  void series(std::string_view metric, Nanos step, element one) {
    array data;
    if (one["data"].get(data) != simdjson::SUCCESS) {
      intake_.trouble(Trouble::kBadLine, {}, fmt::format("{}: a series without data", metric));
      return;
    }
    std::string_view accelerator = text(one, "id");
    std::string index;
    if (std::int64_t whole = 0; one["id"].get(whole) == simdjson::SUCCESS) {
      index = std::to_string(whole);
      accelerator = index;
    }
    const SeriesId id = intake_.series({.host = short_host(text(one, "hostname")),
                                        .accelerator = accelerator,
                                        .uuid = {},
                                        .slice = {},
                                        .job = of_->job,
                                        .metric = metric,
                                        .kind = {}});
    samples_.clear();
    std::uint64_t blanks = 0;
    std::uint64_t infinite = 0;
    Nanos at = of_->start;
    for (const element cell : data) {
      double value = 0;
      if (cell.get(value) != simdjson::SUCCESS || is_blank_number(value)) {
        ++blanks;  // null
      } else if (!(std::abs(value) <= std::numeric_limits<float>::max())) {
        ++infinite;
      } else {
        samples_.push_back({at, static_cast<float>(value)});
      }
      at += step;
    }
    if (blanks > 0) intake_.troubles(Trouble::kBlankValue, blanks);
    if (infinite > 0) intake_.troubles(Trouble::kNotFinite, infinite);
    intake_.samples(id, samples_);
  }

  Intake& intake_;
  std::optional<ArchivePath> of_;
  std::vector<Sample> samples_;
};

}  // namespace

std::optional<ArchivePath> archive_path(std::string_view path) {
  const auto parts = split(path, '/');
  if (parts.size() < 4) return std::nullopt;
  const std::string_view thousands = parts[parts.size() - 4];
  const std::string_view rest = parts[parts.size() - 3];
  const auto high = to_number<std::uint32_t>(thousands);
  const auto low = to_number<std::uint32_t>(rest);
  const auto start = to_number<std::int64_t>(parts[parts.size() - 2]);
  if (!high || !low || rest.size() != 3 || !start || *start <= 0 || *start > 9'000'000'000) {
    return std::nullopt;
  }
  return ArchivePath{std::to_string(std::uint64_t{*high} * 1000 + *low),
                     std::chrono::seconds{*start}};
}

bool claims_meta(std::string_view head) {
  const auto has = [&](std::string_view part) { return head.find(part) != head.npos; };
  return trim(head).starts_with('{') && has("\"jobId\"") && has("\"cluster\"") &&
         (has("\"subCluster\"") || has("\"resources\""));
}

bool claims_data(std::string_view head) {
  const auto has = [&](std::string_view part) { return head.find(part) != head.npos; };
  return trim(head).starts_with('{') && has("\"timestep\"") && has("\"series\"") &&
         !has("\"jobId\"");
}

std::unique_ptr<Reader> make_meta(Intake& intake, const ReaderOptions&) {
  return std::make_unique<MetaReader>(intake);
}

std::unique_ptr<Reader> make_data(Intake& intake, const ReaderOptions& options) {
  return std::make_unique<DataReader>(intake, options);
}

}  // namespace amdahl::fleet::clustercockpit
