// sort.h: puts the samples of some series in order of time before they are told.
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

// Passes on all but the samples of the series named, which wait until tell_held(). What does not
// fit into memory waits in a file that goes when this does.
class Sorter final : public fleet::PassOn {
 public:
  using Names = std::unordered_set<std::string>;  // As scan::series_name calls them.
  static constexpr std::size_t kInMemory = std::size_t{1} << 21;

  // `path`: of the file, if one is needed. `next` and `names` must outlive this.
  Sorter(fleet::Intake& next, const Names& names, std::string path,
         std::size_t in_memory = kInMemory)
      : PassOn(next), names_{names}, path_{std::move(path)}, most_{in_memory} {}

  fleet::SeriesId series(const model::SeriesKey& key) override;
  void tell(const fleet::Record& record) override;

  std::uint64_t held() const { return held_; }  // Samples that wait.
  // All that wait, series by series, each in order of time; of the same time in that of the input.
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
  std::vector<std::int64_t> last_;  // By series: the newest so far.
  std::vector<Entry> entries_;
  std::vector<std::uint64_t> spilled_;  // How many entries each part of the file has.
  std::optional<os::Growing> file_;
  std::string failed_;  // Why the file could not be written.
  std::uint64_t held_ = 0;
  fleet::SeriesId batch_of_ = 0;
  std::vector<fleet::Sample> batch_;
  std::vector<fleet::SeriesId> row_series_;
  std::vector<fleet::Sample> row_samples_;
};

}  // namespace amdahl::ingest
