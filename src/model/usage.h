// usage.h: a job's allocation joined with its utilisation over time, per accelerator.
#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "model/receipt.h"

namespace amdahl::model {

struct Usage {
  int schema = 1;
  std::string job;  // The job's id.
  std::string family;
  std::string user;
  std::string host;
  std::vector<std::string> command;
  std::string workdir;
  int accelerators = 1;
  std::string accelerator_kind;
  Nanos start{};  // Unix time.
  Nanos end{};
  bool failed = false;
  std::string ending;  // As describe_ending().
  std::optional<double> work;
  Utilisation utilisation;
  std::vector<Span> phases;
};

Usage usage_of(const Receipt& receipt, std::string user, std::string workdir);

}  // namespace amdahl::model
