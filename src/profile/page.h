// page.h: the report on a trace as text and as HTML.
#pragma once

#include <string>

#include "profile/job_html.h"
#include "profile/timeline_boxes.h"
#include "profile/trace_report.h"

namespace amdahl::profile {

// Minimum width for the tables.
inline constexpr int kNarrowestPage = 72;

// How much device work CUDA graphs launched, in one sentence; empty if none.
std::string graph_line(const TraceReport& report);

// What the shares and gains of gains tables mean.
std::string gains_note(const TraceReport& report);

// How much of the devices' peak the FLOPs known from shapes are; empty if none are known.
std::string mfu_line(const KernelTable& work);

// Rates of a kind of kernels, as shown; empty: unknown.
struct WorkRates {
  std::string flops{};  // TFLOP/s.
  std::string of_peak{};
  std::string bytes{};  // GB/s.
  std::string of_bandwidth{};
  std::string limit{};  // "compute", "memory".
};
WorkRates rates_of(const KernelKindRow& row);

// Causes with seconds, ceiling, place and what to try; then devices, critical path, possible
// gains, steps and ranks, and missing data. Lines are at most `width` wide (at least
// kNarrowestPage). Control characters in names become "?".
std::string draw(const TraceReport& report, int width, bool colour);

// A self-contained page: the same tables, and a timeline on a canvas that zooms, pans and can be
// searched, by mouse and keyboard. Light or dark by the reader's setting. All names are escaped.
// `lead`: comes first, about the job that left the trace; without lanes the page has nothing else.
std::string html(const TraceReport& report, const Boxes& boxes, const JobLead& lead = {});

}  // namespace amdahl::profile
