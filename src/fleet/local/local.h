// local.h: reads the usage record that `amdahl run` leaves for each job.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/source.h"
#include "model/usage.h"

namespace amdahl::fleet::local {

bool claims(std::string_view head);

// One JSON document, one job. Refuses records that no anatomy could be made of: no accelerator, an
// end before the start, samples without an interval.
Result<std::vector<model::Usage>> read(std::string_view bytes);

// The same record as a job, its places and a series an accelerator. Phases have no place there.
std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

}  // namespace amdahl::fleet::local
