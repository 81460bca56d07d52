// read_record.h: the sums of a record of waits, without its single waits.
#pragma once

#include <string>

#include "base/result.h"
#include "model/bpf.h"

namespace amdahl::observe {

// Streams. kBadInput if it was cut off, because then it has no sums.
Result<model::BpfSummary> read_record(const std::string& path);

}  // namespace amdahl::observe
