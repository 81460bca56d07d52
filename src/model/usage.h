// usage.h: a job's allocation joined with its utilisation over time, per accelerator.
#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "model/receipt.h"

namespace amdahl::model {

// What a production run ran with: the family's promoted changes, but for the one that the coin of
// a canary left out. Known before it starts.
struct CanaryRun {
  std::vector<std::string> changes;  // Hypotheses in effect, oldest first.
  std::string held_back;             // The one left out; empty if none was.
  int slot = -1;  // Its number among the family's watched runs on this host; -1: not watched.

  friend bool operator==(const CanaryRun&, const CanaryRun&) = default;
};

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
  CanaryRun canary;

  friend bool operator==(const Usage&, const Usage&) = default;
};

Usage usage_of(const Receipt& receipt, std::string user, std::string workdir);

}  // namespace amdahl::model
