#include "model/usage.h"

#include <utility>

namespace amdahl::model {

Usage usage_of(const Receipt& receipt, std::string user, std::string workdir) {
  Usage usage;
  usage.job = receipt.id;
  usage.family = receipt.family;
  usage.user = std::move(user);
  usage.host = receipt.host;
  usage.command = receipt.argv;
  usage.workdir = std::move(workdir);
  usage.accelerators = receipt.accelerators;
  usage.accelerator_kind = receipt.accelerator_kind;
  usage.start = receipt.started;
  usage.end = receipt.started + receipt.wall;
  usage.failed = !succeeded(receipt);
  usage.ending = describe_ending(receipt);
  usage.work = receipt.work.seen();
  usage.utilisation = receipt.utilisation;
  usage.phases = receipt.phases;
  return usage;
}

}  // namespace amdahl::model
