// usage.h: a job's allocation with its utilisation over time, per accelerator.
#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "model/receipt.h"

namespace amdahl::model {

// What a production run used: the family's promoted changes, except one that a canary's coin may
// hold back. Decided before the run starts.
struct CanaryRun {
  std::vector<std::string> changes;  // Hypotheses in effect, oldest first.
  std::string held_back;             // The change left out; empty: none.
  int slot = -1;  // Index among the family's watched runs on this host; -1: not watched.

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
  std::string ending;  // See describe_ending().
  std::optional<double> work;
  Utilisation utilisation;
  std::vector<Span> phases;
  CanaryRun canary;

  friend bool operator==(const Usage&, const Usage&) = default;
};

Usage usage_of(const Receipt& receipt, std::string user, std::string workdir);

}  // namespace amdahl::model
