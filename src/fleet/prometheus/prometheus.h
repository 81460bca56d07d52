// prometheus.h: reads a saved answer of Prometheus to query_range.
#pragma once

#include <memory>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::prometheus {

// Whether `head` begins such an answer: {"status":...,"data":{"resultType":...
bool claims(std::string_view head);

// Gives jobs too where it has the metric whose value is the job.
Explained explain(std::string_view head, const ReaderOptions& options);

// What its server warned of, or said to be partial, is counted as missing.
std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

}  // namespace amdahl::fleet::prometheus
