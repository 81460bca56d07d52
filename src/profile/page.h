// page.h: what a trace says as a page that a person can act on, in text and as HTML.
#pragma once

#include <string>

#include "profile/job_html.h"
#include "profile/timeline_boxes.h"
#include "profile/trace_report.h"

namespace amdahl::profile {

// The least width that has room for the tables.
inline constexpr int kNarrowestPage = 72;

// What of the devices' work CUDA graphs launched, in one sentence; empty if they launched none.
std::string graph_line(const TraceReport& report);

// Causes with seconds, ceiling, place and what to try; then devices, the critical path, what each
// fix could gain, steps and ranks, and what is missing. No line is wider than `width` (taken as
// kNarrowestPage if less). Control characters in names are shown as "?".
std::string draw(const TraceReport& report, int width, bool colour);

// A page that needs nothing but itself: the same tables, and the timeline on a canvas that zooms
// with the wheel, moves by dragging and with the keyboard, and can be searched. Light and dark by
// the reader's setting. Whatever a name holds is shown as text.
// `lead`: of the job that left the trace, which comes first; without lanes there is nothing else.
std::string html(const TraceReport& report, const Boxes& boxes, const JobLead& lead = {});

}  // namespace amdahl::profile
