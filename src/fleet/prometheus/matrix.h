// matrix.h: reads the answers of query_range, or what is cut out of them, while they arrive.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/intake.h"
#include "fleet/prometheus/labels.h"

namespace amdahl::fleet::prometheus {

// What an answer said besides samples.
struct Answered {
  std::uint64_t series = 0;
  std::uint64_t samples = 0;          // Given to the intake.
  std::string status;                 // "success", "error"; empty if the answer did not say.
  std::string error;                  // "bad_data: exceeded maximum resolution ...".
  std::vector<std::string> warnings;  // Of data that may be missing; the first hundred.
  bool partial = false;               // The server says that it did not see all of its data.
  bool cut = false;                   // It ends in the middle.
};

// Matrices and vectors, one document or several in a row, in pieces cut anywhere; also their list
// of series alone, and the lines of VictoriaMetrics' /api/v1/export. Memory is one
// window of bytes and the points of one series. Values that are NaN, infinite or DCGM's blanks are
// counted as troubles, not passed on; a series without a host or a device is a bad line.
class MatrixReader {
 public:
  // `metric`: the name of series that have none. `hints`: tell the intake, as a job without times
  // and accelerators, whose a labelled job is; see label_jobs.h. `intake` must outlive this.
  explicit MatrixReader(Intake& intake, std::string metric = {}, bool hints = false);

  // Takes all of `bytes`. An error ("byte 812: ...") means that this is not such an answer; the
  // samples before it were passed on.
  Result<> feed(std::string_view bytes);
  // To be called at the end: an answer that stops in the middle is counted as kTruncated.
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
    kNumbers,  // Of VictoriaMetrics' export: values, and apart from them their times.
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
  std::string held_;          // Bytes that wait for the rest of their token.
  std::uint64_t passed_ = 0;  // Bytes before held_.
  std::vector<Level> levels_;
  std::string key_;
  std::string text_;  // The latest string, unescaped.
  std::string what_;  // Of an error.
  Labels labels_;
  std::size_t label_count_ = 0;
  bool labelled_ = false;  // The series' labels are complete.
  SeriesId series_ = 0;
  bool wanted_ = false;  // The series can be joined to something.
  bool by_value_ = false;
  std::string latest_job_;
  std::vector<Sample> pending_;
  std::string time_;                  // Of a point that is being read.
  int item_ = 0;                      // Of that point.
  std::vector<std::string> numbers_;  // Of an export: values that wait for their times.
};

}  // namespace amdahl::fleet::prometheus
