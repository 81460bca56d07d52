// snapshot.h: what the ledger knows of all that is live, as the loop wants it.
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
  // Hypotheses that cannot, as "family 'title'"; the others of their families go on.
  std::map<std::string, std::string> left_out{};
};

struct SnapshotOptions {
  Nanos profiles_not_before{};  // Older profiles count as absent (a cycle with --refresh).
  std::string family{};         // Only this one; empty: all.
};

Result<Snapshot> take_snapshot(Context& context, const SnapshotOptions& options = {});

// A family's runs since `not_before`, and as far back as its last success, oldest first: a long
// history costs nothing.
Result<std::vector<model::Pair>> recent_runs(Context& context, const std::string& family,
                                             const model::Aim& aim, Nanos not_before);

}  // namespace amdahl::app
