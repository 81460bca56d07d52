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

void Writer::op(Op op) { block_.push_back(static_cast<char>(op)); }

void Writer::words(std::initializer_list<std::string_view> all) {
  for (const std::string_view word : all) text(word);
}

void Writer::place(Where where) {
  number(where.line);
  number(where.byte);
}

void Writer::tell(const Record& record) {
  const auto* samples = std::get_if<Samples>(&record);
  const auto* rows = std::get_if<Rows>(&record);
  if ((samples && samples->samples.empty()) || (rows && rows->samples.empty())) return;
  room();
  std::visit([this](const auto& one) { write(one); }, record);
  if (!next_) return;
  if (samples) {
    next_->samples(next_ids_[samples->series], samples->samples);
  } else if (rows) {
    translated_.clear();
    for (const SeriesId id : rows->series) translated_.push_back(next_ids_[id]);
    next_->rows(translated_, rows->samples);
  } else {
    next_->tell(record);
  }
}

void Writer::write(const Job& one) {
  // A new field must be written down, too: this stops the build until it is, here and in reader.cc.
  static_assert(sizeof(model::JobDraft) == 280);
  const model::JobDraft& job = one.draft;
  if (job.shards > 0) {
    op(Op::kShards);
    real(job.shards);
  }
  if (!job.reason.empty()) {
    op(Op::kReason);
    words({job.reason});
  }
  if (!job.cluster.empty()) {
    op(Op::kCluster);
    words({job.cluster});
  }
  op(Op::kJob);
  words({job.id, job.raw, job.name, job.user, job.account, job.partition, job.kind, job.family,
         job.script, job.hosts, job.metric});
  number(static_cast<std::uint64_t>(job.state));
  for (const Nanos time : {job.submit, job.start, job.end, job.elapsed}) whole(time.count());
  real(job.accelerators);
  whole(job.host_count);
  real(job.mean_utilisation);
  place(one.where);
}

void Writer::write(const Assignment& place) {
  op(Op::kPlace);
  words({place.job, place.host, place.accelerator});
}

void Writer::write(const Capacity& capacity) {
  op(Op::kCapacity);
  words({capacity.host, capacity.partition, capacity.kind});
  whole(capacity.accelerators);
}

void Writer::write(const Occupancy& occupancy) {
  op(Op::kOccupancy);
  text(occupancy.partition);
  whole(occupancy.at.count());
  whole(occupancy.held.count());
  real(occupancy.total);
  real(occupancy.allocated);
  real(occupancy.down);
}

void Writer::write(const Device& device) {
  op(Op::kDevice);
  words({device.host, device.accelerator, device.slice, device.profile, device.uuid, device.bus,
         device.likely});
}

void Writer::write(const Parts& parts) {
  op(Op::kParts);
  text(parts.host);
  real(parts.of_each);
}

void Writer::write(const Down& down) {
  op(Op::kDown);
  text(down.host);
  whole(down.from.count());
  whole(down.to.count());
  real(down.accelerators);
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
    op(Op::kProfile);
    text(key.profile);
  }
  op(Op::kSeries);
  words({key.host, key.accelerator, key.uuid, key.slice, key.job, key.metric, key.kind});
  if (next_) next_ids_.push_back(next_->series(key));
  return row->second;
}

void Writer::write(const Samples& one) {
  op(Op::kSamples);
  number(one.series);
  number(one.samples.size());
  times(one.samples);
  values(one.samples);
}

void Writer::write(const Rows& rows) {
  op(Op::kRows);
  number(rows.samples.size());
  std::int64_t before = 0;
  for (const SeriesId id : rows.series) {
    whole(static_cast<std::int64_t>(id) - before);
    before = id;
  }
  times(rows.samples);
  values(rows.samples);
}

void Writer::write(const Complaint& complaint) {
  op(Op::kTrouble);
  number(static_cast<std::uint64_t>(complaint.trouble));
  place(complaint.where);
  text(complaint.text);
}

void Writer::write(const Troubles& troubles) {
  op(Op::kTroubles);
  number(static_cast<std::uint64_t>(troubles.trouble));
  number(troubles.count);
}

}  // namespace amdahl::fleet::journal
