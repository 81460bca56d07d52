// local.h: reads the usage records of `amdahl run`.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/source.h"
#include "model/usage.h"

namespace amdahl::fleet::local {

bool claims(std::string_view head);

// One JSON document, one job. Refuses unusable records: no accelerator, an end before the start,
// samples without an interval.
Result<std::vector<model::Usage>> read(std::string_view bytes);

// The record as a job, its places and one series per accelerator. Phases are dropped.
std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

}  // namespace amdahl::fleet::local
