#include "fleet/source.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "bytes/utf16.h"
#include "fleet/clustercockpit/clustercockpit.h"
#include "fleet/local/local.h"
#include "fleet/lsf/lsf.h"
#include "fleet/nvidia_mon/nvidia_mon.h"
#include "fleet/nvidia_smi/nvidia_smi.h"
#include "fleet/pbs/pbs.h"
#include "fleet/philly/philly.h"
#include "fleet/prometheus/prometheus.h"
#include "fleet/prometheus_text/prometheus_text.h"
#include "fleet/sge/sge.h"
#include "fleet/slurm/slurm.h"
#include "fleet/sonar/sonar.h"
#include "fleet/table/head.h"
#include "fleet/table/table.h"
#include "fleet/unsupported_formats.h"

namespace amdahl::fleet {
namespace {

constexpr auto kSources = std::to_array<Source>({
    {.name = "local",
     .reads = "the usage records that `amdahl run` leaves",
     .claims = local::claims,
     .make = local::make},
    {.name = "prometheus",
     .reads = "answers of Prometheus to query_range",
     .gives = Gives::kSamples,
     .claims = prometheus::claims,
     .make = prometheus::make,
     .explain = prometheus::explain},
    {.name = "slurm",
     .reads = "what sacct, squeue, scontrol, sinfo and sacctmgr print",
     .gives = Gives::kJobs,
     .claims = slurm::claims,
     .make = slurm::make,
     .explain = slurm::explain,
     .takes_fields = true},
    {.name = "pbs",
     .reads = "accounting logs of PBS and Torque",
     .gives = Gives::kJobs,
     .claims = pbs::claims,
     .make = pbs::make,
     .explain = pbs::explain},
    {.name = "sge",
     .reads = "accounting of Grid Engine (SGE, UGE), qacct -j",
     .gives = Gives::kJobs,
     .claims = sge::claims,
     .make = sge::make,
     .explain = sge::explain},
    {.name = "lsf",
     .reads = "jobs of LSF: lsb.acct, bhist -l, bjobs -l, bacct -l",
     .gives = Gives::kJobs,
     .claims = lsf::claims,
     .make = lsf::make,
     .explain = lsf::explain},
    {.name = "sonar",
     .reads = "sacct as sonar writes it, key=value",
     .gives = Gives::kJobs,
     .claims = sonar::claims,
     .make = sonar::make,
     .appended = Appended::kAlone},
    {.name = "csv",
     .reads = "tables, by their columns or by a mapping",
     .claims = table::claims_layout,
     .make = table::make_lines,
     .guesses = table::guesses_lines,
     .explain = table::explain_lines,
     .fit = table::fit_lines},
    {.name = "csv-long",
     .reads = "long tables of samples: time, host, gpu, a column a metric",
     .gives = Gives::kSamples,
     .claims = table::claims_long,
     .make = table::make_long,
     .explain = table::explain_long},
    {.name = "nvidia-smi",
     .reads = "nvidia-smi --query-gpu=... --format=csv, -L or -q",
     .claims = nvidia_smi::claims,
     .make = nvidia_smi::make,
     .explain = nvidia_smi::explain},
    {.name = "nvidia-smi-mon",
     .reads = "nvidia-smi dmon -o DT, nvidia-smi pmon -o DT",
     .gives = Gives::kSamples,
     .claims = nvidia_mon::claims,
     .make = nvidia_mon::make,
     .explain = nvidia_mon::explain},
    {.name = "prometheus-text",
     .reads = "metrics as exporters serve them; promtool tsdb dump",
     .gives = Gives::kSamples,
     .claims = prometheus_text::claims,
     .make = prometheus_text::make,
     .explain = prometheus_text::explain},
    {.name = "philly",
     .reads = "cluster_job_log of the Philly traces",
     .gives = Gives::kJobs,
     .claims = philly::claims,
     .make = philly::make,
     .explain = philly::explain,
     .says_zone = true},
    {.name = "json-table",
     .reads = "lists of JSON objects, or an object a line, by their keys",
     .claims = table::claims_objects,
     .make = table::make_objects,
     .guesses = table::guesses_objects,
     .explain = table::explain_objects,
     .fit = table::fit_objects},
    {.name = "clustercockpit",
     .reads = "jobs of a ClusterCockpit archive (meta.json)",
     .gives = Gives::kJobs,
     .claims = clustercockpit::claims_meta,
     .make = clustercockpit::make_meta},
    {.name = "clustercockpit-data",
     .reads = "samples of a ClusterCockpit archive (data.json)",
     .gives = Gives::kSamples,
     .claims = clustercockpit::claims_data,
     .make = clustercockpit::make_data},
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

// Whether it begins with a line of words: no JSON, comment or quote, and no UTF-16.
bool begins_with_words(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\n') + 1);
  return !line.empty() && std::string_view("{[#\"").find(line.front()) == std::string_view::npos &&
         !bytes::is_utf16(line);
}

// Undoes UTF-16 for any reader.
class DecodingReader final : public Reader {
 public:
  explicit DecodingReader(std::unique_ptr<Reader> next) : next_{std::move(next)} {}

  Result<> feed(std::string_view bytes) override {
    if (!begun_) {
      first_ += bytes;
      if (first_.size() < 2) return Ok{};
      begun_ = true;
      if (bytes::is_utf16(first_)) decoder_.emplace();
      return feed(std::exchange(first_, {}));
    }
    return decoder_ ? next_->feed(decoder_->decode(bytes)) : next_->feed(bytes);
  }

  Result<> finish() override {
    if (!first_.empty()) TRY(next_->feed(first_));
    return next_->finish();
  }

 private:
  std::unique_ptr<Reader> next_;
  std::optional<bytes::Utf16> decoder_;
  std::string first_;
  bool begun_ = false;
};

}  // namespace

const Sources& sources() {
  static constexpr Sources kAll(kSources);
  return kAll;
}

std::unique_ptr<Reader> make_reader(const Source& source, Intake& intake,
                                    const ReaderOptions& options) {
  if (!bytes::is_utf16(options.head)) {
    return std::make_unique<DecodingReader>(source.make(intake, options));
  }
  ReaderOptions decoded = options;
  decoded.head = bytes::Utf16().decode(options.head);
  return std::make_unique<DecodingReader>(source.make(intake, decoded));
}

Explained explain(const Source& source, std::string_view head, const ReaderOptions& options) {
  Explained said{source.gives, "", source.appended};
  const std::string decoded = bytes::is_utf16(head) ? bytes::Utf16().decode(head) : std::string();
  if (source.explain) said = source.explain(decoded.empty() ? head : decoded, options);
  if (!decoded.empty()) said.text = said.text.empty() ? "UTF-16" : "UTF-16; " + said.text;
  if (!begins_with_words(head)) said.appended = Appended::kAfterAll;
  return said;
}

std::string_view telling_part(std::string_view head) { return *table::telling_part(head, true); }

Result<Source> Sources::claiming(std::string_view bytes, const ReaderOptions& options) const {
  if (bytes::is_utf16(bytes)) return claiming(bytes::Utf16().decode(bytes), options);
  if (const std::string_view what = not_text(bytes); !what.empty()) {
    return Error{Error::Kind::kUnsupported, fmt::format("is {}", what)};
  }
  const std::string_view head = bytes.substr(0, kHeadBytes);
  std::vector<Source> claiming;
  for (const Source& source : rows_) {
    if (source.claims(head)) claiming.push_back(source);
  }
  if (claiming.size() == 1) return claiming.front();
  if (claiming.empty()) {
    if (const std::string what = output_for_people(bytes); !what.empty()) {
      return Error{Error::Kind::kUnsupported, what};
    }
    return guessed(bytes, options);
  }
  return Error{
      Error::Kind::kUnsupported,
      fmt::format("matches several sources, choose one with --source: {}", names_of(claiming))};
}

// Whoever can read it though it claims nothing. kUnsupported if nobody can, with what is missing.
Result<Source> Sources::guessed(std::string_view bytes, const ReaderOptions& options) const {
  for (const Source& source : rows_) {
    if (source.guesses == nullptr) continue;
    auto can = source.guesses(bytes, options);
    if (!can) return Error{Error::Kind::kUnsupported, can.error().text};
    if (*can) return source;
  }
  return Error{Error::Kind::kUnsupported,
               bytes.empty() ? "is empty"
                             : fmt::format("format not recognised, begins with '{}'; sources: {}",
                                           shown(bytes), names_of(rows_))};
}

Result<Source> Sources::fitting(std::string_view head, ReaderOptions& options) const {
  std::string mapping = std::exchange(options.mapping, {});
  auto known = claiming(head, options);
  for (const Source& source : rows_) {
    if (mapping.empty() || source.fit == nullptr) continue;
    const Fit fit = source.fit(head, mapping);
    if (fit == Fit::kNone || (fit == Fit::kSome && known)) continue;
    options.mapping = std::move(mapping);
    return source;
  }
  if (known || options.fields.empty()) return known;
  const auto by_fields = std::ranges::find_if(rows_, &Source::takes_fields);
  return by_fields == rows_.end() ? known : *by_fields;
}

Result<Source> Sources::named(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const Source& source : rows_) {
    if (source.name == name) return source;
    names.push_back(source.name);
  }
  const auto near = did_you_mean(name, names);
  return bad_input(fmt::format("unknown source '{}'{}; sources: {}", name,
                               near ? fmt::format(", did you mean '{}'?", *near) : "",
                               names_of(rows_)));
}

}  // namespace amdahl::fleet
