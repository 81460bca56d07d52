// sort.h: sorts the samples of some series by time before they are passed on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "fleet/intake_filters.h"
#include "os/stream.h"

namespace amdahl::ingest {

// Passes everything on except samples of the named series, which are held until tell_held(). What
// does not fit in memory goes to a temporary file.
class Sorter final : public fleet::PassOn {
 public:
  using Names = std::unordered_set<std::string>;  // As in scan::series_name.
  static constexpr std::size_t kInMemory = std::size_t{1} << 21;

  // `path`: the temporary file, if needed. `next` and `names` must outlive this.
  Sorter(fleet::Intake& next, const Names& names, std::string path,
         std::size_t in_memory = kInMemory)
      : PassOn(next), names_{names}, path_{std::move(path)}, most_{in_memory} {}

  fleet::SeriesId series(const model::SeriesKey& key) override;
  void tell(const fleet::Record& record) override;

  std::uint64_t held() const { return held_; }  // Held samples.
  // Passes on all held samples, series by series, sorted by time; equal times keep input order.
  Result<> tell_held(const std::function<bool()>& stop);

 private:
  struct Entry {
    std::int64_t at = 0;
    fleet::SeriesId series = 0;
    float value = 0;
    friend bool operator<(const Entry& a, const Entry& b) {
      return a.series != b.series ? a.series < b.series : a.at < b.at;
    }
  };
  class Merge;

  bool waits(fleet::SeriesId series) const { return series < waits_.size() && waits_[series]; }
  void split(const fleet::Rows& rows);
  void hold(fleet::SeriesId series, const fleet::Sample& sample);
  void spill();
  void tell_one(const Entry& entry);
  void tell_batch();

  const Names& names_;
  std::string path_;
  std::size_t most_;
  std::vector<bool> waits_;         // By series.
  std::vector<std::int64_t> last_;  // By series: newest so far.
  std::vector<Entry> entries_;
  std::vector<std::uint64_t> spilled_;  // Entries in each part of the file.
  std::optional<os::Growing> file_;
  std::string failed_;  // Why the file could not be written.
  std::uint64_t held_ = 0;
  fleet::SeriesId batch_of_ = 0;
  std::vector<fleet::Sample> batch_;
  std::vector<fleet::SeriesId> row_series_;
  std::vector<fleet::Sample> row_samples_;
};

}  // namespace amdahl::ingest
