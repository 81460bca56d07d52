// neighbours.h: load processes that make a host busy while the arms run.
#pragma once

#include <vector>

#include "base/result.h"
#include "launch/local/fork.h"

namespace amdahl::launch::local {

// One spinning process per slot, at our priority, until this object is destroyed or we die. The
// supervisor counts them as noise of the host, not of the job, if they start before it.
class Neighbours {
 public:
  // Returns when all of them spin on their CPUs.
  static Result<Neighbours> on(const std::vector<int>& cpus);
  // Whether all are still alive; if not, the claim was not tested under load.
  bool all_there();

 private:
  std::vector<Fork> spinning_;
};

}  // namespace amdahl::launch::local
