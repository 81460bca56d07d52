// report.h: reads what a job says of itself in the file named by AMDAHL_REPORT
// (docs/format/report.md).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "model/receipt.h"

namespace amdahl::observe {

// How busy an accelerator was over a stretch of the job, since its start.
struct BusySpan {
  int accelerator = 0;
  Nanos from{};
  Nanos to{};
  double busy = 0;  // 0 to 1.
};

struct Report {
  std::optional<double> work;
  std::map<std::string, double> metrics;
  std::vector<model::Span> phases;  // In order of start.
  std::vector<BusySpan> busy;
  model::StepReports steps;
  std::vector<std::string> problems;  // At most kMaxProblems.
};

inline constexpr std::size_t kMaxProblems = 20;
inline constexpr std::size_t kMaxReportBytes = 64 * 1024 * 1024;

// The file's size as seen at a moment since the job's start, in order: dates lines without a time.
struct Growth {
  std::size_t bytes = 0;
  Nanos at{};
};

// What is needed to place a line's times on the job's own clock.
struct ReportContext {
  Nanos started{};  // Unix time.
  Nanos wall{};
  int accelerators = 1;
  std::vector<Growth> growth;
};

// Never fails: what cannot be used is a problem with its line's number. A report that was longer
// than kMaxReportBytes has no work and no metrics, because its last words are unknown.
Report read_report(std::string_view text, bool cut_short, const ReportContext& context);

// The first match of `pattern` (one group, a number) in the last line that has one; a progress bar
// that returns to its beginning makes a line each time. Bad patterns and matches that are no number
// are added to `problems`.
std::optional<double> work_in_output(std::string_view text, const std::string& pattern,
                                     std::vector<std::string>& problems);

// The same of any finite number, such as a loss: "nan" is one that is not.
std::optional<double> number_in_output(std::string_view text, const std::string& pattern,
                                       std::vector<std::string>& problems);

}  // namespace amdahl::observe
