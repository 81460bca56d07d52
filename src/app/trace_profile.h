// trace_profile.h: what files of profilers say of a job.
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
  bool html = false;      // Whether the page is wanted.
  profile::JobLead lead;  // Of the job that left them: first on the page.
  bool hta = false;       // Whether the figures of Holistic Trace Analysis are wanted too.
};

struct TraceAnswer {
  profile::TraceReport report;
  std::string page;                      // HTML, if it was wanted.
  std::vector<profile::HtaFigures> hta;  // By source with devices.
};

// What moved from the traces of one run to those of another. Only one side is in memory at a time.
Result<profile::Diff> diff_traces(const TraceFiles& before, const TraceFiles& after);

Result<TraceAnswer> profile_traces(const TraceRequest& request);

}  // namespace amdahl::app
