// read_record.h: reads the summary of a wait record, without its single waits.
#pragma once

#include <string>

#include "base/result.h"
#include "model/bpf.h"

namespace amdahl::observe {

// Streams the file. kBadInput if it is truncated, since then it has no summary.
Result<model::BpfSummary> read_record(const std::string& path);

}  // namespace amdahl::observe
