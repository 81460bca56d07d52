// rows.h: converts the cells of a row as a mapping says.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "fleet/source.h"
#include "fleet/table/cells.h"
#include "fleet/table/mapping.h"
#include "fleet/table/placed_jobs.h"
#include "fleet/table/wide.h"

namespace amdahl::fleet::table {

class Rows {
 public:
  // `mapping` must outlive it.
  Rows(Intake& intake, const Mapping& mapping, Zone zone, const ReaderOptions& options);

  Result<> begin(std::vector<std::string> header);  // Fails if a column is missing.
  // Fails if the rows so far contradict a guessed mapping.
  Result<> take(const Cells& cells, Where where);
  Result<> finish();  // The same, at the end.
  void flush();       // Passes buffered samples on.

 private:
  struct FieldColumns {  // Of one field.
    int column = -1;
    int times = -1;
    int also = -1;
  };
  // For a guess: what the values of a column (or of all with one pattern) say about their unit.
  struct Weight {
    std::uint64_t shares = 0;
    std::uint64_t above = 0;    // Above 1.
    std::uint64_t between = 0;  // Between 0 and 1.
    bool in_fraction = false;
  };

  Result<int> find(std::string_view column) const;
  bool is_header(const Cells& cells) const;
  void one(const Cells& cells, Where where);
  void weigh(Weight& weight, double share, bool in_fraction);
  std::string_view text(Field field);
  std::string_view file_part(const From& from) const;
  std::optional<double> accelerators(model::JobDraft& job);
  std::optional<double> number(Field field, double otherwise);
  std::optional<Nanos> time(Field field);
  std::optional<Nanos> duration(Field field, Nanos otherwise);
  bool passes(const Cells& cells) const;
  void complain(model::Trouble trouble, Field field, std::string_view text);

  void job();
  void sample();
  std::string_view known_metric(std::string_view said);
  void add_sample(const model::SeriesKey& key, Nanos at, std::string_view cell, double scale,
                  std::string_view column, const ValueColumn* of = nullptr);
  void place();
  void device();
  void capacity();
  void occupancy();
  std::string_view hosts();

  Intake& intake_;
  const Mapping& mapping_;
  Zone zone_;
  std::string stem_;  // File name: "vc3sl" for "earth/vc3sl.csv.gz".
  std::string host_;  // From the options.
  std::vector<std::string> header_;
  std::array<FieldColumns, kFieldCount> places_{};
  std::vector<FieldColumns> filters_;
  std::vector<WideSeries> series_;

  std::vector<Weight> weights_;  // By Mapping::values, and one for utilisation of jobs.

  PlacedJobs placed_;

  const Cells* cells_ = nullptr;  // Of the current row.
  Where where_;
  std::string line_id_;
  std::string hosts_;
  std::string key_;
  std::unordered_map<std::string, SeriesId> ids_;
  std::map<std::string, std::string, std::less<>> metrics_;  // As written to as known.
  std::vector<SeriesId> pending_series_;
  std::vector<Sample> pending_;
};

}  // namespace amdahl::fleet::table
