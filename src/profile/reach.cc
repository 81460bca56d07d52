#include "profile/reach.h"

#include "scan/anatomy.h"

namespace amdahl::profile {

double expected_gain(const model::Cause& cause) { return scan::ceiling_of(cause.share); }

}  // namespace amdahl::profile
