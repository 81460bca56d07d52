// change.h: what a hypothesis does to a job, in a form a machine can apply and compare.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace amdahl::model {

// Concrete: playbook knobs are already resolved against the job's spec.
struct Change {
  // Variable to value; nothing: unset the variable.
  std::map<std::string, std::optional<std::string>> env;
  // Flag to value ("--batch" to "32"); "": a flag without a value; nothing: remove the flag.
  std::map<std::string, std::optional<std::string>> args;
  // "file.json#key.path" to value. The arm runs with an edited copy of the file.
  std::map<std::string, std::string> config;
  std::optional<int> accelerators;  // Number of accelerators for the arm.
  std::vector<std::string> wrap;    // Prepended to the command: {"numactl", "--interleave=all"}.
  // Fix from playbook/inject/ to its value ("" if it takes none). The hook applies it inside the
  // job's processes.
  std::map<std::string, std::string> inject;
  std::string patch;         // Unified diff against the spec's repo; empty: none.
  bool needs_build = false;  // Run the spec's build command after applying the patch.

  friend bool operator==(const Change&, const Change&) = default;
};

bool is_empty(const Change& change);

// Applies `later` on top of `earlier`. `later` wins where both set the same thing.
Change combine(const Change& earlier, const Change& later);

// What the change sets if that is one number and nothing else: "--batch", "inject loader-workers".
// Empty for any other change.
std::string numeric_setting(const Change& change);

// For people: "--batch 32, OMP_WAIT_POLICY=passive, 1 accelerator".
std::string describe(const Change& change);

}  // namespace amdahl::model
