// trace_profile.h: analyses profilers' files of a job.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/trace_files.h"
#include "profile/diff.h"
#include "profile/hta.h"
#include "profile/job_html.h"
#include "profile/trace_report.h"

namespace amdahl::app {

struct TraceRequest {
  TraceFiles files;
  std::string what_if;    // As typed; empty: none.
  bool html = false;      // Create the page.
  profile::JobLead lead;  // About the job that left them: first on the page.
  bool hta = false;       // Also compute the figures of Holistic Trace Analysis.
};

struct TraceAnswer {
  profile::TraceReport report;
  std::string page;                      // HTML, if requested.
  std::vector<profile::HtaFigures> hta;  // Per source with devices.
};

// What changed between the traces of two runs. Only one side is in memory at a time.
Result<profile::Diff> diff_traces(const TraceFiles& before, const TraceFiles& after);

Result<TraceAnswer> profile_traces(const TraceRequest& request);

}  // namespace amdahl::app
