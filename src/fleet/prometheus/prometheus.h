// prometheus.h: reads a saved query_range answer of Prometheus.
#pragma once

#include <memory>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::prometheus {

// Whether `head` begins such an answer: {"status":...,"data":{"resultType":...
bool claims(std::string_view head);

// Also gives jobs if it has the metric whose value is the job id.
Explained explain(std::string_view head, const ReaderOptions& options);

// Warnings and partial data of the server are counted as missing.
std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

}  // namespace amdahl::fleet::prometheus
