#include "fleet_targets.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/text.h"
#include "bytes/unpack.h"
#include "fleet/hostlist.h"
#include "fleet/source.h"
#include "fleet/times.h"

namespace amdahl::fuzz {
namespace {

// Takes in all that it is told as one number, whatever the bundles, and checks it on the way.
class Digest final : public fleet::Intake {
 public:
  std::uint64_t value = 1469598103934665603ULL;

  fleet::SeriesId series(const model::SeriesKey& key) override {
    for (const std::string_view word : {key.host, key.accelerator, key.uuid, key.slice, key.job,
                                        key.metric, key.kind, key.profile}) {
      add(word);
    }
    return series_++;
  }
  void tell(const fleet::Record& record) override {
    std::visit([this](const auto& one) { take(one); }, record);
  }

  std::uint64_t sum() const { return value ^ (counted_ * 0x9E3779B97F4A7C15ULL); }

 private:
  void take(const fleet::Job& told) {
    const model::JobDraft& job = told.draft;
    for (const std::string_view word :
         {job.id, job.raw, job.name, job.user, job.account, job.partition, job.kind, job.family,
          job.script, job.hosts, job.metric}) {
      add(word);
    }
    CHECK(!job.id.empty());
    CHECK(std::isfinite(job.accelerators) && job.accelerators >= 0);
    CHECK(std::isfinite(job.shards) && job.shards >= 0);
    CHECK(std::isnan(job.mean_utilisation) ||
          (job.mean_utilisation >= 0 && job.mean_utilisation <= 1));
    CHECK(job.host_count >= 0);
    CHECK(job.start == Nanos{} || job.end == Nanos{} || job.end >= job.start);
    for (const Nanos time : {job.submit, job.start, job.end, job.elapsed}) add(time);
    add(told.where);
  }
  void take(const fleet::Assignment& place) {
    for (const std::string_view word : {place.job, place.host, place.accelerator}) add(word);
  }
  void take(const fleet::Capacity& told) {
    for (const std::string_view word : {told.host, told.partition, told.kind}) add(word);
    CHECK(told.accelerators > 0);
  }
  void take(const fleet::Occupancy& room) {
    add(room.partition);
    CHECK(std::isfinite(room.total) && std::isfinite(room.allocated) && std::isfinite(room.down));
    CHECK(room.held >= Nanos{});
    add(room.at);
  }
  void take(const fleet::Device& device) {
    for (const std::string_view word : {device.host, device.accelerator, device.slice,
                                        device.profile, device.uuid, device.bus, device.likely}) {
      add(word);
    }
    CHECK(!device.accelerator.empty());
  }
  void take(const fleet::Parts& parts) {
    add(parts.host);
    CHECK(std::isfinite(parts.of_each) && parts.of_each > 0);
  }
  void take(const fleet::Down& down) {
    add(down.host);
    CHECK(down.to >= down.from && std::isfinite(down.accelerators) && down.accelerators >= 0);
    add(down.from);
    add(down.to);
  }
  void take(const fleet::Samples& told) {
    CHECK(told.series < series_);
    for (const fleet::Sample& sample : told.samples) add(told.series, sample);
  }
  void take(const fleet::Rows& rows) {
    CHECK(rows.series.size() == rows.samples.size());
    for (std::size_t i = 0; i < rows.samples.size(); ++i) {
      CHECK(rows.series[i] < series_);
      add(rows.series[i], rows.samples[i]);
    }
  }
  void take(const fleet::Complaint& told) {
    CHECK(!told.text.empty());  // Which of them are shown may depend on the pieces; how many, not.
    take(fleet::Troubles{told.trouble, 1});
  }
  // Added up: readers may count by piece.
  void take(const fleet::Troubles& told) {
    CHECK(!model::name(told.trouble).empty());
    counted_ += told.count * (static_cast<std::uint64_t>(told.trouble) * 2 + 1);
  }

  // Samples, troubles and names may come in other orders when pieces differ; a sum forgets order.
  void add(std::string_view word) {
    std::uint64_t hash = 1469598103934665603ULL;
    for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    value += hash;
  }
  void add(Nanos time) { value += static_cast<std::uint64_t>(time.count()) * 31; }
  // Where lines are, bytes are exact; elsewhere they are near.
  void add(fleet::Where where) {
    if (where.line > 0) value += where.line * 7 + where.byte * 13;
  }
  void add(fleet::SeriesId, const fleet::Sample& sample) {
    CHECK(std::isfinite(sample.value));
    add(sample.at);
    value += std::bit_cast<std::uint32_t>(sample.value) * std::uint64_t{17};
  }

  fleet::SeriesId series_ = 0;
  std::uint64_t counted_ = 0;
};

fleet::ReaderOptions options_of(std::string_view& bytes) {
  fleet::ReaderOptions options;
  options.now = std::chrono::seconds{1'800'000'000};
  while (bytes.starts_with('@')) {
    const std::size_t end = bytes.find('\n');
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end == bytes.npos ? bytes.size() : end + 1);
    const std::size_t blank = std::min(line.find(' '), line.size());
    const std::string_view key = line.substr(1, blank - 1);
    const std::string value(trim(line.substr(blank)));
    if (key == "path") options.path = value;
    if (key == "host") options.host = value;
    if (key == "fields") options.fields = value;
    if (key == "zone") options.time_zone = value;
    if (key == "mapping") {
      const std::size_t close = bytes.find("@end\n");
      options.mapping = bytes.substr(0, close);
      bytes = close == bytes.npos ? std::string_view() : bytes.substr(close + 5);
    }
  }
  return options;
}

struct Outcome {
  std::uint64_t sum = 0;
  bool well = false;
};

Outcome feed(const fleet::Source& source, std::string_view bytes,
             const fleet::ReaderOptions& options, std::size_t piece) {
  Digest digest;
  const auto reader = fleet::make_reader(source, digest, options);
  while (!bytes.empty()) {
    // A copy of its own: a reader that keeps a view into a piece is found out.
    const std::string part(bytes.substr(0, piece));
    if (!reader->feed(part)) return {digest.sum(), false};
    bytes.remove_prefix(part.size());
  }
  const bool well = static_cast<bool>(reader->finish());
  return {digest.sum(), well};
}

}  // namespace

void read_by_source(std::string_view name, std::string_view bytes) {
  const auto source = fleet::sources().named(name);
  CHECK(source);
  const fleet::ReaderOptions options = options_of(bytes);
  source->claims(bytes.substr(0, 4096));
  const Outcome whole = feed(*source, bytes, options, std::string_view::npos);
  const Outcome pieces = feed(*source, bytes, options, 1 + bytes.size() % 61);
  CHECK(whole.well == pieces.well);
  CHECK(!whole.well || whole.sum == pieces.sum);
}

void guess_source(std::string_view bytes) {
  fleet::ReaderOptions options = options_of(bytes);
  const auto source = fleet::sources().claiming(bytes, options);
  if (!source) {
    CHECK(!source.error().text.empty());
    return;
  }
  fleet::explain(*source, bytes, options);
  const Outcome whole = feed(*source, bytes, options, std::string_view::npos);
  const Outcome pieces = feed(*source, bytes, options, 1 + bytes.size() % 61);
  options.head = bytes.substr(0, fleet::kMostHead);
  const Outcome looked = feed(*source, bytes, options, 1 + bytes.size() % 61);
  CHECK(whole.well == pieces.well && whole.well == looked.well);
  CHECK(!whole.well || (whole.sum == pieces.sum && whole.sum == looked.sum));
}

void read_zone(std::string_view bytes) {
  const auto by_rules = fleet::zone_from_tzif(bytes);
  const auto by_name = fleet::zone_named(bytes.substr(0, 200));
  fleet::zone_file(bytes.substr(0, 200));
  for (const auto* zone : {&by_rules, &by_name}) {
    if (!*zone) continue;
    for (std::int64_t at = -9'000'000'000; at < 9'000'000'000; at += 123'456'789) {
      const auto read = (*zone)->to_unix(at);
      CHECK(read.first <= read.second);
    }
  }
  const auto format = fleet::time_format(bytes.substr(0, bytes.size() / 2));
  if (format) format->read(bytes.substr(bytes.size() / 2), fleet::Zone{});
  fleet::read_time(bytes, fleet::Zone{});
  Nanos duration{};
  fleet::read_duration(bytes, duration);
}

void read_hosts(std::string_view bytes) {
  const auto hosts = fleet::expand_hosts(bytes, 1000);
  CHECK(!hosts || hosts->size() <= 1000);
  fleet::expand_indices(bytes);
  fleet::short_host(bytes);
}

void unpack(std::string_view bytes) {
  for (const auto packing : {bytes::Packing::kGzip, bytes::Packing::kZstd}) {
    const auto unpacker = bytes::Unpacker::make(packing);
    std::size_t size = 0;
    const auto done = unpacker->feed(bytes, [&](std::string_view piece) -> Result<> {
      size += piece.size();
      if (size > (std::size_t{1} << 24)) return bad_input("enough");
      return Ok{};
    });
    if (done) unpacker->is_whole();
  }
}

}  // namespace amdahl::fuzz
