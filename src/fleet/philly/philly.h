// philly.h: reads cluster_job_log of Microsoft's Philly traces: a JSON list of jobs with attempts.
#pragma once

#include <memory>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::philly {

// [{"status":..., "vc":..., "jobid":..., "attempts":[...
bool claims(std::string_view head);

// Each attempt is a job with its accelerators. The last one has the job's id and status; the n-th
// before it is "ID#n" with an unknown state. Times without a zone are US Pacific time, as the
// telemetry of the same traces shows.
std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

Explained explain(std::string_view head, const ReaderOptions& options);

}  // namespace amdahl::fleet::philly
