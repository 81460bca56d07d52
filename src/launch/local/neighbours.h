// neighbours.h: work that we put beside an arm, to see what its claim is worth on a busy host.
#pragma once

#include <vector>

#include "base/result.h"
#include "launch/local/fork.h"

namespace amdahl::launch::local {

// One process a slot that spins, at our priority, until this goes away or we die. The supervisor
// counts them as the host's noise, not as the job's, if they are there before it starts.
class Neighbours {
 public:
  // Returns once all of them spin where they should.
  static Result<Neighbours> on(const std::vector<int>& cpus);
  // Whether none has died; the claim was not tested otherwise.
  bool all_there();

 private:
  std::vector<Fork> spinning_;
};

}  // namespace amdahl::launch::local
