#include <algorithm>
#include <bit>
#include <cmath>

#include <zstd.h>

#include "base/check.h"
#include "fleet/journal/format.h"
#include "fleet/journal/journal.h"

namespace amdahl::fleet::journal {
namespace {

// Fast: a journal must cost little beside the reading that it saves.
constexpr int kLevel = 1;

void put_u32(std::string& to, std::size_t value) {
  for (int shift = 0; shift < 32; shift += 8) to.push_back(static_cast<char>(value >> shift));
}

bool all_bytes(std::span<const Sample> samples) {
  return std::ranges::all_of(samples, [](const Sample& sample) {
    const float v = sample.value;
    return v >= 0 && v < 256 && v == static_cast<float>(static_cast<int>(v)) && !std::signbit(v);
  });
}

std::int64_t unit_of(std::span<const Sample> samples) {
  std::int64_t unit = 1'000'000'000;
  for (const Sample& sample : samples) {
    while (sample.at.count() % unit != 0) unit /= 1000;
  }
  return unit;
}

}  // namespace

struct Writer::Compressor {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ~Compressor() { ZSTD_freeCCtx(context); }
};

Writer::Writer(Intake* next)
    : next_{next}, compressor_{std::make_unique<Compressor>()}, ready_{kMagic} {
  CHECK(compressor_->context);
  ZSTD_CCtx_setParameter(compressor_->context, ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(compressor_->context, ZSTD_c_checksumFlag, 1);
}

Writer::~Writer() = default;

void Writer::number(std::uint64_t value) {
  while (value >= 0x80) {
    block_.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  block_.push_back(static_cast<char>(value));
}

// Small either side of 0.
void Writer::whole(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  number((bits << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0));
}

void Writer::real(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int shift = 0; shift < 64; shift += 8) block_.push_back(static_cast<char>(bits >> shift));
}

void Writer::text(std::string_view text) {
  number(text.size());
  block_.append(text);
}

void Writer::room() {
  if (block_.size() >= kBlock) close();
}

void Writer::close() {
  if (block_.empty()) return;
  std::string packed(ZSTD_compressBound(block_.size()), '\0');
  const std::size_t size = ZSTD_compress2(compressor_->context, packed.data(), packed.size(),
                                          block_.data(), block_.size());
  CHECK(!ZSTD_isError(size));
  put_u32(ready_, size);
  put_u32(ready_, block_.size());
  ready_.append(packed, 0, size);
  block_.clear();
}

std::string Writer::take() { return std::exchange(ready_, {}); }

std::string Writer::finish() {
  close();
  put_u32(ready_, 0);
  put_u32(ready_, 0);
  return take();
}

void Writer::times(std::span<const Sample> samples) {
  const std::int64_t unit = unit_of(samples);
  whole(unit);
  std::int64_t before = 0;
  for (const Sample& sample : samples) {
    const std::int64_t now = sample.at.count() / unit;
    whole(now - before);
    before = now;
  }
}

void Writer::values(std::span<const Sample> samples) {
  if (all_bytes(samples)) {
    block_.push_back(static_cast<char>(Values::kBytes));
    for (const Sample& sample : samples) {
      block_.push_back(static_cast<char>(static_cast<unsigned>(sample.value)));
    }
    return;
  }
  block_.push_back(static_cast<char>(Values::kFloats));
  for (const Sample& sample : samples) {
    const auto bits = std::bit_cast<std::uint32_t>(sample.value);
    for (int shift = 0; shift < 32; shift += 8) block_.push_back(static_cast<char>(bits >> shift));
  }
}

void Writer::job(const model::JobDraft& job, Where where) {
  // A new field must be written down, too: this stops the build until it is, here and in reader.cc.
  static_assert(sizeof(model::JobDraft) == 248);
  room();
  if (job.shards > 0) {
    block_.push_back(static_cast<char>(Op::kShards));
    real(job.shards);
  }
  block_.push_back(static_cast<char>(Op::kJob));
  for (const std::string_view word :
       {job.id, job.raw, job.name, job.user, job.account, job.partition, job.kind, job.family,
        job.script, job.hosts, job.metric}) {
    text(word);
  }
  number(static_cast<std::uint64_t>(job.state));
  for (const Nanos time : {job.submit, job.start, job.end, job.elapsed}) whole(time.count());
  real(job.accelerators);
  whole(job.host_count);
  real(job.mean_utilisation);
  number(where.line);
  number(where.byte);
  if (next_) next_->job(job, where);
}

void Writer::place(std::string_view job, std::string_view host, std::string_view accelerator) {
  room();
  block_.push_back(static_cast<char>(Op::kPlace));
  text(job);
  text(host);
  text(accelerator);
  if (next_) next_->place(job, host, accelerator);
}

void Writer::capacity(std::string_view host, std::string_view partition, std::string_view kind,
                      int accelerators) {
  room();
  block_.push_back(static_cast<char>(Op::kCapacity));
  text(host);
  text(partition);
  text(kind);
  whole(accelerators);
  if (next_) next_->capacity(host, partition, kind, accelerators);
}

void Writer::occupancy(std::string_view partition, const Occupancy& occupancy) {
  room();
  block_.push_back(static_cast<char>(Op::kOccupancy));
  text(partition);
  whole(occupancy.at.count());
  whole(occupancy.held.count());
  real(occupancy.total);
  real(occupancy.allocated);
  real(occupancy.down);
  if (next_) next_->occupancy(partition, occupancy);
}

void Writer::device(const Device& device) {
  room();
  block_.push_back(static_cast<char>(Op::kDevice));
  for (const std::string_view word : {device.host, device.accelerator, device.slice, device.profile,
                                      device.uuid, device.bus, device.likely}) {
    text(word);
  }
  if (next_) next_->device(device);
}

void Writer::parts(std::string_view host, double of_each) {
  room();
  block_.push_back(static_cast<char>(Op::kParts));
  text(host);
  real(of_each);
  if (next_) next_->parts(host, of_each);
}

void Writer::down(const Down& down) {
  room();
  block_.push_back(static_cast<char>(Op::kDown));
  text(down.host);
  whole(down.from.count());
  whole(down.to.count());
  real(down.accelerators);
  if (next_) next_->down(down);
}

SeriesId Writer::series(const model::SeriesKey& key) {
  key_.clear();
  for (const std::string_view word : {key.host, key.accelerator, key.uuid, key.slice, key.job,
                                      key.metric, key.kind, key.profile}) {
    key_.append(word).push_back('\0');
  }
  const auto [row, fresh] = ids_.emplace(key_, static_cast<SeriesId>(ids_.size()));
  if (!fresh) return row->second;
  room();
  if (!key.profile.empty()) {
    block_.push_back(static_cast<char>(Op::kProfile));
    text(key.profile);
  }
  block_.push_back(static_cast<char>(Op::kSeries));
  for (const std::string_view word :
       {key.host, key.accelerator, key.uuid, key.slice, key.job, key.metric, key.kind}) {
    text(word);
  }
  if (next_) next_ids_.push_back(next_->series(key));
  return row->second;
}

void Writer::samples(SeriesId series, std::span<const Sample> samples) {
  if (samples.empty()) return;
  room();
  block_.push_back(static_cast<char>(Op::kSamples));
  number(series);
  number(samples.size());
  times(samples);
  values(samples);
  if (next_) next_->samples(next_ids_[series], samples);
}

void Writer::rows(std::span<const SeriesId> series, std::span<const Sample> samples) {
  if (samples.empty()) return;
  room();
  block_.push_back(static_cast<char>(Op::kRows));
  number(samples.size());
  std::int64_t before = 0;
  for (const SeriesId id : series) {
    whole(static_cast<std::int64_t>(id) - before);
    before = id;
  }
  times(samples);
  values(samples);
  if (!next_) return;
  translated_.clear();
  for (const SeriesId id : series) translated_.push_back(next_ids_[id]);
  next_->rows(translated_, samples);
}

void Writer::trouble(model::Trouble trouble, Where where, std::string_view words) {
  room();
  block_.push_back(static_cast<char>(Op::kTrouble));
  number(static_cast<std::uint64_t>(trouble));
  number(where.line);
  number(where.byte);
  text(words);
  if (next_) next_->trouble(trouble, where, words);
}

void Writer::troubles(model::Trouble trouble, std::uint64_t count) {
  room();
  block_.push_back(static_cast<char>(Op::kTroubles));
  number(static_cast<std::uint64_t>(trouble));
  number(count);
  if (next_) next_->troubles(trouble, count);
}

}  // namespace amdahl::fleet::journal
