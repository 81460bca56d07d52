#include "ingest/sort.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

#include "scan/usage_accumulator.h"

namespace amdahl::ingest {
namespace {

constexpr std::size_t kBatch = 4096;

}  // namespace

fleet::SeriesId Sorter::series(const model::SeriesKey& key) {
  const fleet::SeriesId id = next_.series(key);
  if (waits_.size() <= id) {
    waits_.resize(std::size_t{id} + 1);
    last_.resize(waits_.size(), std::numeric_limits<std::int64_t>::min());
  }
  if (names_.contains(scan::series_name(key))) waits_[id] = true;
  return id;
}

void Sorter::tell(const fleet::Record& record) {
  const auto* samples = std::get_if<fleet::Samples>(&record);
  if (samples && waits(samples->series)) {
    for (const fleet::Sample& sample : samples->samples) hold(samples->series, sample);
  } else if (const auto* rows = std::get_if<fleet::Rows>(&record)) {
    split(*rows);
  } else {
    next_.tell(record);
  }
}

void Sorter::split(const fleet::Rows& rows) {
  row_series_.clear();
  row_samples_.clear();
  for (std::size_t i = 0; i < rows.samples.size(); ++i) {
    if (waits(rows.series[i])) {
      hold(rows.series[i], rows.samples[i]);
      continue;
    }
    row_series_.push_back(rows.series[i]);
    row_samples_.push_back(rows.samples[i]);
  }
  next_.rows(row_series_, row_samples_);
}

void Sorter::hold(fleet::SeriesId series, const fleet::Sample& sample) {
  const std::int64_t at = sample.at.count();
  if (at < last_[series]) next_.troubles(model::Trouble::kLateSample, 1);
  last_[series] = std::max(last_[series], at);
  entries_.push_back({at, series, sample.value});
  ++held_;
  if (entries_.size() >= most_) spill();
}

// Write errors are reported by tell_held(): there is no caller to report to here.
void Sorter::spill() {
  std::ranges::stable_sort(entries_, std::less<Entry>());
  const auto write = [&]() -> Result<> {
    if (!file_) file_.emplace(TRY(os::Growing::make(path_)));
    const auto bytes = std::as_bytes(std::span(entries_));
    return file_->append({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  if (failed_.empty()) {
    if (auto done = write(); !done) failed_ = done.error().text;
  }
  spilled_.push_back(entries_.size());
  entries_.clear();
}

// The sorted parts of the file, a piece of each at a time in memory.
class Sorter::Merge {
 public:
  static Result<Merge> open(const std::string& path, const std::vector<std::uint64_t>& sizes) {
    Merge merge(TRY(os::Stream::open(path)));
    std::uint64_t from = 0;
    for (const std::uint64_t size : sizes) {
      merge.parts_.push_back({from, from + size, {}, 0});
      from += size;
    }
    for (std::size_t i = 0; i < merge.parts_.size(); ++i) TRY(merge.advance(i));
    return merge;
  }

  bool is_empty() const { return heads_.empty(); }
  Result<Entry> next() {
    const auto [entry, part] = heads_.top();
    heads_.pop();
    TRY(advance(part));
    return entry;
  }

 private:
  struct Part {
    std::uint64_t next = 0;  // To be read from the file.
    std::uint64_t end = 0;
    std::vector<Entry> piece;
    std::size_t at = 0;  // In the piece.
  };
  using Head = std::pair<Entry, std::size_t>;
  struct After {  // Of equals, those of the earlier part come first.
    bool operator()(const Head& a, const Head& b) const {
      if (a.first < b.first) return false;
      return b.first < a.first || a.second > b.second;
    }
  };

  explicit Merge(os::Stream file) : file_{std::move(file)} {}

  Result<> advance(std::size_t index) {
    Part& part = parts_[index];
    if (part.at == part.piece.size()) TRY(refill(part));
    if (part.at < part.piece.size()) heads_.emplace(part.piece[part.at++], index);
    return Ok{};
  }

  Result<> refill(Part& part) {
    part.at = 0;
    part.piece.resize(std::min<std::uint64_t>(kBatch, part.end - part.next));
    if (part.piece.empty()) return Ok{};
    TRY(file_.seek(part.next * sizeof(Entry)));
    const auto bytes = std::as_writable_bytes(std::span(part.piece));
    std::span<char> room(reinterpret_cast<char*>(bytes.data()), bytes.size());
    while (!room.empty()) {
      const std::size_t got = TRY(file_.read(room));
      if (got == 0) return external("the temporary file of unsorted samples is gone");
      room = room.subspan(got);
    }
    part.next += part.piece.size();
    return Ok{};
  }

  os::Stream file_;
  std::vector<Part> parts_;
  std::priority_queue<Head, std::vector<Head>, After> heads_;
};

Result<> Sorter::tell_held(const std::function<bool()>& stop) {
  if (spilled_.empty()) {
    std::ranges::stable_sort(entries_, std::less<Entry>());
    for (const Entry& entry : entries_) tell_one(entry);
  } else {
    if (!entries_.empty()) spill();
    if (!failed_.empty()) return external(failed_);
    Merge merge = TRY(Merge::open(path_ + ".part", spilled_));
    for (std::uint64_t told = 0; !merge.is_empty(); ++told) {
      if (told % kBatch == 0 && stop && stop()) return external("interrupted");
      tell_one(TRY(merge.next()));
    }
  }
  tell_batch();
  entries_ = {};
  spilled_.clear();
  file_.reset();
  held_ = 0;
  return Ok{};
}

void Sorter::tell_one(const Entry& entry) {
  if (entry.series != batch_of_ || batch_.size() == kBatch) tell_batch();
  batch_of_ = entry.series;
  batch_.push_back({Nanos{entry.at}, entry.value});
}

void Sorter::tell_batch() {
  if (!batch_.empty()) next_.samples(batch_of_, batch_);
  batch_.clear();
}

}  // namespace amdahl::ingest
