// report.h: reads what a job wrote to the file in AMDAHL_REPORT (docs/format/report.md).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "model/receipt.h"

namespace amdahl::observe {

// How busy an accelerator was in an interval, relative to the job's start.
struct BusySpan {
  int accelerator = 0;
  Nanos from{};
  Nanos to{};
  double busy = 0;  // 0 to 1.
};

struct Report {
  std::optional<double> work;
  std::map<std::string, double> metrics;
  std::vector<model::Span> phases;  // Ordered by start.
  std::vector<BusySpan> busy;
  model::StepReports steps;
  std::vector<std::string> problems;  // At most kMaxProblems.
};

inline constexpr std::size_t kMaxProblems = 20;
inline constexpr std::size_t kMaxReportBytes = 64 * 1024 * 1024;

// The file's size over time, relative to the job's start: dates lines without a time.
struct Growth {
  std::size_t bytes = 0;
  Nanos at{};
};

// Needed to convert a line's times to the job's clock.
struct ReportContext {
  Nanos started{};  // Unix time.
  Nanos wall{};
  int accelerators = 1;
  std::vector<Growth> growth;
};

// Never fails: unusable lines are problems with their line number. A report above kMaxReportBytes
// has no work and no metrics, since its last lines are unknown.
Report read_report(std::string_view text, bool cut_short, const ReportContext& context);

// The first match of `pattern` (one group, a number) in the last line that matches. A carriage
// return ends a line too (progress bars). Bad patterns and matches that are not numbers are added
// to `problems`.
std::optional<double> work_in_output(std::string_view text, const std::string& pattern,
                                     std::vector<std::string>& problems);

// The same for any finite number, such as a loss; "nan" is a problem.
std::optional<double> number_in_output(std::string_view text, const std::string& pattern,
                                       std::vector<std::string>& problems);

}  // namespace amdahl::observe
