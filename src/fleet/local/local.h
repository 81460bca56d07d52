// local.h: reads the usage record that `amdahl run` leaves for each job.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/usage.h"

namespace amdahl::fleet::local {

bool claims(std::string_view head);

// One JSON document, one job. Refuses records that no anatomy could be made of: no accelerator, an
// end before the start, samples without an interval.
Result<std::vector<model::Usage>> read(std::string_view bytes);

}  // namespace amdahl::fleet::local
