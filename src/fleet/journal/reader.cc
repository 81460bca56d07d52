#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include <fmt/core.h>
#include <zstd.h>

#include "fleet/journal/format.h"
#include "fleet/journal/journal.h"

namespace amdahl::fleet::journal {
namespace {

// Reads values from one block. After the first that is not there all are 0 and `bad` is true.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : at_{bytes.data()}, end_{bytes.data() + bytes.size()} {}

  bool bad = false;
  bool done() const { return at_ == end_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  std::uint8_t byte() {
    if (at_ == end_) return fail();
    return static_cast<std::uint8_t>(*at_++);
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t part = byte();
      value |= std::uint64_t{part & 0x7FU} << shift;
      if (part < 0x80) return value;
    }
    return fail();
  }
  std::int64_t whole() {
    const std::uint64_t bits = number();
    return static_cast<std::int64_t>((bits >> 1) ^ (~(bits & 1) + 1));
  }
  template <class Bits>
  Bits fixed() {
    Bits bits = 0;
    for (unsigned shift = 0; shift < sizeof(Bits) * 8; shift += 8) {
      bits |= static_cast<Bits>(Bits{byte()} << shift);
    }
    return bits;
  }
  double real() { return std::bit_cast<double>(fixed<std::uint64_t>()); }
  Nanos time() { return Nanos(whole()); }
  std::string_view text() {
    const std::uint64_t size = number();
    if (size > left()) return fail(), std::string_view{};
    const std::string_view words(at_, size);
    at_ += size;
    return words;
  }
  // How many samples follow: each takes at least two bytes.
  std::size_t count() {
    const std::uint64_t n = number();
    return n > left() / 2 ? fail() : static_cast<std::size_t>(n);
  }

 private:
  std::uint8_t fail() {
    bad = true;
    at_ = end_;
    return 0;
  }

  const char* at_;
  const char* end_;
};

class JournalReader final : public Reader {
 public:
  explicit JournalReader(Intake& intake) : intake_{intake}, context_{ZSTD_createDCtx()} {}
  ~JournalReader() override { ZSTD_freeDCtx(context_); }

  Result<> feed(std::string_view bytes) override {
    held_.append(bytes);
    std::size_t at = 0;
    if (!begun_) {
      if (held_.size() < kMagic.size()) return Ok{};
      if (!claims(held_)) return bad_input("is not a journal, or has another version");
      begun_ = true;
      at = kMagic.size();
    }
    while (!ended_ && held_.size() - at >= 8) {
      const std::size_t packed = size_at(at);
      const std::size_t raw = size_at(at + 4);
      if (raw > kLargest || packed > kLargest) return broken(at);
      if (held_.size() - at - 8 < packed) break;
      ended_ = packed == 0 && raw == 0;
      if (!ended_) TRY(block(std::string_view(held_).substr(at + 8, packed), raw, at));
      at += 8 + packed;
    }
    if (ended_ && at != held_.size()) return broken(at);
    passed_ += at;
    held_.erase(0, at);
    return Ok{};
  }

  Result<> finish() override {
    if (!ended_) return bad_input("the journal is truncated");
    return Ok{};
  }

 private:
  std::size_t size_at(std::size_t at) const {
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      size |= std::size_t{static_cast<unsigned char>(held_[at + i])} << (8 * i);
    }
    return size;
  }

  Error broken(std::size_t at) const {
    return bad_input(fmt::format("byte {}: the journal is damaged", passed_ + at + 1));
  }

  Result<> block(std::string_view packed, std::size_t raw, std::size_t at) {
    block_.resize(raw);
    const std::size_t size =
        ZSTD_decompressDCtx(context_, block_.data(), raw, packed.data(), packed.size());
    if (ZSTD_isError(size) || size != raw) return broken(at);
    Cursor cursor(block_);
    while (!cursor.done() && record(cursor)) {
    }
    if (cursor.bad) return broken(at);
    return Ok{};
  }

  static bool keep(Cursor& from, std::string& into) {
    into = from.text();
    return !from.bad;
  }

  // False, and the cursor bad, for what is no record.
  bool record(Cursor& from) {
    switch (static_cast<Op>(from.byte())) {
      case Op::kSeries:
        return series(from);
      case Op::kSamples:
        return samples(from);
      case Op::kRows:
        return rows(from);
      case Op::kJob:
        return job(from);
      case Op::kPlace: {
        Assignment place;
        for (std::string_view* word : {&place.job, &place.host, &place.accelerator}) {
          *word = from.text();
        }
        return tell(from, place);
      }
      case Op::kCapacity: {
        Capacity capacity;
        for (std::string_view* word : {&capacity.host, &capacity.partition, &capacity.kind}) {
          *word = from.text();
        }
        capacity.accelerators = static_cast<int>(from.whole());
        return tell(from, capacity);
      }
      case Op::kOccupancy: {
        Occupancy occupancy;
        occupancy.partition = from.text();
        occupancy.at = from.time();
        occupancy.held = from.time();
        for (double* part : {&occupancy.total, &occupancy.allocated, &occupancy.down}) {
          *part = from.real();
        }
        return tell(from, occupancy);
      }
      case Op::kTrouble:
        return trouble(from, false);
      case Op::kTroubles:
        return trouble(from, true);
      case Op::kDevice:
        return device(from);
      case Op::kParts: {
        Parts parts;
        parts.host = from.text();
        parts.of_each = from.real();
        return tell(from, parts);
      }
      case Op::kDown: {
        Down down;
        down.host = from.text();
        down.from = from.time();
        down.to = from.time();
        down.accelerators = from.real();
        return tell(from, down);
      }
      case Op::kShards:
        shards_ = from.real();
        return !from.bad;
      case Op::kReason:
        return keep(from, reason_);
      case Op::kCluster:
        return keep(from, cluster_);
      case Op::kProfile:
        return keep(from, profile_);
    }
    from.bad = true;
    return false;
  }

  bool device(Cursor& from) {
    Device device;
    for (std::string_view* word : {&device.host, &device.accelerator, &device.slice,
                                   &device.profile, &device.uuid, &device.bus, &device.likely}) {
      *word = from.text();
    }
    return tell(from, device);
  }

  bool tell(const Cursor& from, const Record& record) {
    if (!from.bad) intake_.tell(record);
    return !from.bad;
  }

  bool series(Cursor& from) {
    model::SeriesKey key;
    const std::string profile = std::exchange(profile_, {});
    key.profile = profile;
    for (std::string_view* word :
         {&key.host, &key.accelerator, &key.uuid, &key.slice, &key.job, &key.metric, &key.kind}) {
      *word = from.text();
    }
    if (!from.bad) ids_.push_back(intake_.series(key));
    return !from.bad;
  }

  bool known(Cursor& from, std::uint64_t id) {
    if (id >= ids_.size()) from.bad = true;
    return !from.bad;
  }

  bool read_samples(Cursor& from, std::size_t count) {
    samples_.resize(count);
    const std::int64_t unit = from.whole();
    if (unit < 1 || unit > 1'000'000'000) from.bad = true;
    std::int64_t now = 0;
    for (Sample& sample : samples_) {
      const std::int64_t step = from.whole();
      if (__builtin_add_overflow(now, step, &now)) from.bad = true;
      std::int64_t nanos = 0;
      if (__builtin_mul_overflow(now, unit, &nanos)) from.bad = true;
      sample.at = Nanos(nanos);
    }
    const auto how = static_cast<Values>(from.byte());
    for (Sample& sample : samples_) {
      sample.value = how == Values::kBytes ? static_cast<float>(from.byte())
                                           : std::bit_cast<float>(from.fixed<std::uint32_t>());
    }
    if (how != Values::kBytes && how != Values::kFloats) from.bad = true;
    return !from.bad;
  }

  bool samples(Cursor& from) {
    const std::uint64_t id = from.number();
    const std::size_t count = from.count();
    if (!known(from, id) || !read_samples(from, count)) return false;
    intake_.samples(ids_[id], samples_);
    return true;
  }

  bool rows(Cursor& from) {
    const std::size_t count = from.count();
    series_.clear();
    std::int64_t id = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (__builtin_add_overflow(id, from.whole(), &id)) from.bad = true;
      if (!known(from, static_cast<std::uint64_t>(id))) return false;
      series_.push_back(ids_[static_cast<std::size_t>(id)]);
    }
    if (!read_samples(from, count)) return false;
    intake_.rows(series_, samples_);
    return true;
  }

  bool trouble(Cursor& from, bool counted) {
    const std::uint64_t kind = from.number();
    if (kind >= model::kTroubleKinds) from.bad = true;
    const auto trouble = static_cast<model::Trouble>(kind);
    if (counted) return tell(from, Troubles{trouble, from.number()});
    const Where where = read_where(from);
    return tell(from, Complaint{trouble, where, from.text()});
  }

  static Where read_where(Cursor& from) {
    Where where;
    where.line = from.number();
    where.byte = from.number();
    return where;
  }

  bool job(Cursor& from) {
    model::JobDraft job;
    for (std::string_view* word :
         {&job.id, &job.raw, &job.name, &job.user, &job.account, &job.partition, &job.kind,
          &job.family, &job.script, &job.hosts, &job.metric}) {
      *word = from.text();
    }
    const std::uint64_t state = from.number();
    if (state > static_cast<std::uint64_t>(model::JobState::kOther)) from.bad = true;
    job.state = static_cast<model::JobState>(state);
    for (Nanos* time : {&job.submit, &job.start, &job.end, &job.elapsed}) *time = from.time();
    job.accelerators = from.real();
    job.shards = std::exchange(shards_, 0);
    const std::string reason = std::exchange(reason_, {});
    job.reason = reason;
    const std::string cluster = std::exchange(cluster_, {});
    job.cluster = cluster;
    job.host_count = static_cast<int>(from.whole());
    job.mean_utilisation = from.real();
    const Where where = read_where(from);
    return tell(from, Job{job, where});
  }

  Intake& intake_;
  ZSTD_DCtx* context_;
  std::string held_;
  std::string block_;
  std::uint64_t passed_ = 0;
  bool begun_ = false;
  bool ended_ = false;
  double shards_ = 0;
  std::string profile_;
  std::string reason_;
  std::string cluster_;
  std::vector<SeriesId> ids_;
  std::vector<SeriesId> series_;
  std::vector<Sample> samples_;
};

}  // namespace

bool claims(std::string_view head) { return head.starts_with(kMagic); }

bool is_whole(std::uint64_t size,
              const std::function<std::string(std::uint64_t offset, std::size_t bytes)>& at) {
  constexpr std::size_t kSizes = 8;
  if (at(0, kMagic.size()) != kMagic) return false;
  std::uint64_t offset = kMagic.size();
  while (offset + kSizes <= size) {
    const std::string sizes = at(offset, kSizes);
    if (sizes.size() != kSizes) return false;
    Cursor from(sizes);
    const std::uint64_t packed = from.fixed<std::uint32_t>();
    const std::uint64_t plain = from.fixed<std::uint32_t>();
    offset += kSizes + packed;
    if (packed == 0 && plain == 0) return offset == size;
  }
  return false;
}

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions&) {
  return std::make_unique<JournalReader>(intake);
}

}  // namespace amdahl::fleet::journal
