// spec.h: what a family's job is: how to run it, what it must keep, what may be touched.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace amdahl::model {

// A setting of the job that a hypothesis may touch, under the name the playbook knows it by.
struct Knob {
  std::string name;                  // "batch_size"; the list is in docs/format/spec.md.
  std::string arg;                   // The flag that sets it, or empty.
  std::vector<std::string> aliases;  // Other spellings of the flag: "-b".
  std::string env;                   // Or the variable that sets it, or empty.
  std::string config;                // Or "file.json#key.path", or empty.
  std::string value;                 // What the baseline has; empty when the flag is absent.
  std::optional<double> min;         // Bounds for numbers.
  std::optional<double> max;
  std::string on;   // What a switch is set to when turned on ("{state}/decoded"); "" = bare flag.
  std::string off;  // What it is set to when turned off; empty takes the flag away.
  std::vector<std::string> choices{};  // The values that the program takes; empty: any.
  // What touching it does to the results: "exact", "tolerant" or "semantic", which is never tried.
  // Empty: not said, and it is tried.
  std::string effect{};

  friend bool operator==(const Knob&, const Knob&) = default;
};

struct Output {
  std::string path;    // May hold "{out}". Its digest must be the same in both arms.
  bool digest = true;  // False: only that it exists and is not empty.

  friend bool operator==(const Output&, const Output&) = default;
};

struct Quality {
  std::string name;      // A metric the job reports, or a name for what `pattern` finds.
  double tolerance = 0;  // How much worse it may get, in the metric's own unit.
  bool higher_is_better = true;
  std::string pattern{};  // Regex with one group on stdout, the last match counts; empty: reported.

  friend bool operator==(const Quality&, const Quality&) = default;
};

// A class of inputs that the fleet runs, with its share; pairs are dealt over them by share.
struct Stratum {
  std::string name;
  double weight = 1;
  std::map<std::string, std::string> env;  // What selects it, in both arms.
  std::map<std::string, std::string> args;

  friend bool operator==(const Stratum&, const Stratum&) = default;
};

struct Spec {
  std::string family;
  std::vector<std::string> command;  // May hold "{out}" and "{state}", see docs/format/spec.md.
  std::string workdir;               // Absolute after loading.
  std::map<std::string, std::string> env;
  std::string repo;                // For patches; empty if there is none.
  std::vector<std::string> build;  // Run in the patched tree.
  int accelerators = 1;
  int cpus = 0;  // CPU slots an arm is pinned to; 0: as many as accelerators.
  Nanos time_limit = std::chrono::minutes(30);
  std::optional<double> memory_limit_mb;
  std::string metric = "accelerator_seconds_per_work";  // Or the name of a reported metric.
  bool lower_is_better = true;
  std::string work_unit = "runs";    // What one unit of work is called.
  std::string work_pattern;          // Regex with one group on stdout; empty: reported.
  std::optional<double> fixed_work;  // For a job that reports none: this much in every run.
  std::vector<Output> outputs;
  std::vector<Quality> quality;
  std::vector<std::string> inputs;  // Paths or globs to fingerprint, relative to workdir.
  std::map<std::string, Knob> knobs;
  std::vector<Stratum> strata;  // Weights sum to 1 after loading.
  std::string pairing = "same-allocation";

  friend bool operator==(const Spec&, const Spec&) = default;
};

// The knobs the playbook speaks of; a spec may name no others.
struct KnownKnob {
  std::string_view name;
  std::string_view sets;  // As people read it: "items per step".
};
std::span<const KnownKnob> known_knobs();

// From TOML; `where` is the file's name for errors ("job.toml: line 7: accelerators must be ...").
// Relative workdir and repo are taken from `base_dir`. Unknown keys are errors with "did you mean".
Result<Spec> parse_spec(std::string_view toml, std::string_view where, std::string_view base_dir);

// As TOML that parse_spec reads back to the same Spec.
std::string to_toml(const Spec& spec);

}  // namespace amdahl::model
