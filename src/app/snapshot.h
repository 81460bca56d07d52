// snapshot.h: everything live in the ledger, loaded for the loop.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "loop/experiments.h"

namespace amdahl::app {

struct Snapshot {
  loop::Experiments experiments;
  std::vector<model::Pair> in_flight;
  std::map<std::string, ledger::Family> families;
  std::map<std::string, std::string> skipped;  // Families that cannot take part now, and why.
  // Hypotheses that cannot, as "family 'title'"; others of their families continue.
  std::map<std::string, std::string> left_out{};
};

struct SnapshotOptions {
  Nanos profiles_not_before{};  // Older profiles are ignored (a cycle with --refresh).
  std::string family{};         // Only this one; empty: all.
};

Result<Snapshot> take_snapshot(Context& context, const SnapshotOptions& options = {});

// A family's runs since `not_before`, or back to its last success, oldest first: the cost does not
// grow with its history.
Result<std::vector<model::Pair>> recent_runs(Context& context, const std::string& family,
                                             const model::Aim& aim, Nanos not_before);

}  // namespace amdahl::app
