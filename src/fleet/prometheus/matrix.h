// matrix.h: parses query_range answers, or parts of them, while they arrive.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/intake.h"
#include "fleet/prometheus/labels.h"

namespace amdahl::fleet::prometheus {

// What an answer contained besides samples.
struct Answered {
  std::uint64_t series = 0;
  std::uint64_t samples = 0;          // Passed to the intake.
  std::string status;                 // "success", "error"; empty if missing.
  std::string error;                  // "bad_data: exceeded maximum resolution ...".
  std::vector<std::string> warnings;  // About possibly missing data; the first hundred.
  bool partial = false;               // The server reports incomplete data.
  bool cut = false;                   // Truncated.
};

// Accepts matrices and vectors, one document or several in a row, in chunks of any size; also a
// bare list of series, and VictoriaMetrics' /api/v1/export lines. Memory: one window of bytes and
// the points of one series. NaN, infinite and DCGM's blank values are counted as troubles; a
// series without a host or device is a bad line.
class MatrixReader {
 public:
  // `metric`: name of series without one. `hints`: report the owner of a labelled job as a job
  // without times and accelerators (label_jobs.h). `intake` must outlive this.
  explicit MatrixReader(Intake& intake, std::string metric = {}, bool hints = false);

  // Consumes all of `bytes`. An error ("byte 812: ...") means that it is not such an answer;
  // samples before it were passed on.
  Result<> feed(std::string_view bytes);
  // Call at the end: a truncated answer is counted as kTruncated.
  Result<> finish();

  const Answered& answered() const { return answered_; }

 private:
  enum class In : std::uint8_t {
    kRoot,
    kData,
    kResult,
    kSeries,
    kMetric,
    kValues,
    kPoint,
    kNumbers,  // VictoriaMetrics export: values and times in separate lists.
    kTimes,
    kWarnings,
    kSkipped,
  };
  enum class Next : std::uint8_t { kKey, kFirstKey, kColon, kValue, kFirstValue, kComma };
  struct Level {
    In in = In::kSkipped;
    bool object = false;
    Next next = Next::kFirstValue;
  };
  enum class Step : std::uint8_t { kDone, kMore, kBad };

  Step step(std::string_view text, std::size_t& at);
  Step structure(char c, std::size_t& at);
  Step open(bool object);
  Step close(bool object);
  Step string(std::string_view text, std::size_t& at);
  Step bare(std::string_view text, std::size_t& at);
  Step take(std::string_view value, bool quoted);
  bool points(std::string_view text, std::size_t& at);
  void point(std::string_view time, std::string_view value);
  void export_point(std::string_view time);
  void held_by(std::string_view job, Nanos at);
  void begin_series();
  void end_labels();
  void end_series();
  void flush();
  In inside(bool object) const;
  Step bad(std::string what);

  Intake& intake_;
  std::string metric_;
  bool hints_;
  Answered answered_;
  std::string held_;          // Bytes of an incomplete token.
  std::uint64_t passed_ = 0;  // Bytes before held_.
  std::vector<Level> levels_;
  std::string key_;
  std::string text_;  // The latest string, unescaped.
  std::string what_;  // For errors.
  Labels labels_;
  std::size_t label_count_ = 0;
  bool labelled_ = false;  // The series' labels are complete.
  SeriesId series_ = 0;
  bool wanted_ = false;  // The series can be joined.
  bool by_value_ = false;
  std::string latest_job_;
  std::vector<Sample> pending_;
  std::string time_;                  // Of the point being read.
  int item_ = 0;                      // Position within that point.
  std::vector<std::string> numbers_;  // Export: values that wait for their times.
};

}  // namespace amdahl::fleet::prometheus
