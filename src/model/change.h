// change.h: what a hypothesis does to a job, in a form a machine can apply and compare.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace amdahl::model {

// Concrete: knobs of the playbook have been resolved against the job's spec.
struct Change {
  // Variable to value; nothing means "unset it".
  std::map<std::string, std::optional<std::string>> env;
  // Flag to value ("--batch" to "32"); "" is a bare flag, nothing takes the flag away.
  std::map<std::string, std::optional<std::string>> args;
  // "file.json#key.path" to value: the arm runs with a copy of the file that has it.
  std::map<std::string, std::string> config;
  std::optional<int> accelerators;  // How many the arm is given.
  std::vector<std::string> wrap;    // Put before the command: {"numactl", "--interleave=all"}.
  // Fix of playbook/inject/ to its value ("" if it takes none): put into the job's processes from
  // outside, by the hook beside them.
  std::map<std::string, std::string> inject;
  std::string patch;         // A unified diff against the spec's repo; empty for none.
  bool needs_build = false;  // The spec's build command must run after the patch.

  friend bool operator==(const Change&, const Change&) = default;
};

bool is_empty(const Change& change);

// `later` on top of `earlier`: later wins where both speak.
Change combine(const Change& earlier, const Change& later);

// As a person reads it: "--batch 32, OMP_WAIT_POLICY=passive, 1 accelerator".
std::string describe(const Change& change);

}  // namespace amdahl::model
