// spec.h: a family's job: how to run it, what must not change, and what may be changed.
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

// A setting that a hypothesis may change, under its playbook name.
struct Knob {
  std::string name;                  // "batch_size"; the list is in docs/format/spec.md.
  std::string arg;                   // Flag that sets it, or empty.
  std::vector<std::string> aliases;  // Other spellings of the flag: "-b".
  std::string env;                   // Or variable that sets it, or empty.
  std::string config;                // Or "file.json#key.path", or empty.
  std::string value;                 // The baseline's value; empty if the flag is absent.
  std::optional<double> min;         // Bounds for numbers.
  std::optional<double> max;
  std::string on;   // Value that turns a switch on ("{state}/decoded"); "": a flag without a value.
  std::string off;  // Value that turns it off; empty: remove the flag.
  std::vector<std::string> choices{};  // Values that the program accepts; empty: any.
  // Effect on the results: "exact", "tolerant" or "semantic" (never tried). Empty: unknown; it is
  // tried.
  std::string effect{};

  friend bool operator==(const Knob&, const Knob&) = default;
};

struct Output {
  std::string path;    // May contain "{out}". The digest must be equal in both arms.
  bool digest = true;  // False: it must only exist and not be empty.

  friend bool operator==(const Output&, const Output&) = default;
};

struct Quality {
  std::string name;      // A reported metric, or a name for the match of `pattern`.
  double tolerance = 0;  // How much worse it may get, in the metric's unit.
  bool higher_is_better = true;
  std::string pattern{};  // Regex with one group; the last match on stdout counts. Empty: reported.

  friend bool operator==(const Quality&, const Quality&) = default;
};

// An input class that the fleet runs, with its share. Pairs are distributed by share.
struct Stratum {
  std::string name;
  double weight = 1;
  std::map<std::string, std::string> env;  // Selects it, in both arms.
  std::map<std::string, std::string> args;
  double size = 0;  // Of its inputs, in any unit: what is new is tried on the smallest first.

  friend bool operator==(const Stratum&, const Stratum&) = default;
};

// How a job is spread over machines, in Slurm's words.
struct Layout {
  int nodes = 1;
  int tasks_per_node = 1;  // Of a step that srun starts without options.

  friend bool operator==(const Layout&, const Layout&) = default;
};

struct Spec {
  std::string family;
  std::vector<std::string> command;  // May contain "{out}" and "{state}"; see docs/format/spec.md.
  std::string workdir;               // Absolute after loading.
  std::map<std::string, std::string> env;
  std::string repo;                // For patches; empty if there is none.
  std::vector<std::string> build;  // Run in the patched tree.
  std::vector<std::string> check;  // Run there after it; must pass before an arm starts.
  std::vector<std::string> paths;  // Globs that an agent's patch may touch; empty: any file.
  std::vector<std::string> deny;   // Globs that it may not touch, besides model/frozen.h.
  bool network = false;            // Whether the runs of an agent's patch may use the network.
  Layout layout{};
  int accelerators = 1;  // On all nodes together, as the CPUs; divisible by the nodes.
  int cpus = 0;          // CPUs that an arm is pinned to; 0: one per accelerator.
  Nanos time_limit = std::chrono::minutes(30);
  std::optional<double> memory_limit_mb;
  std::string metric = "accelerator_seconds_per_work";  // Or the name of a reported metric.
  bool lower_is_better = true;
  std::string work_unit = "runs";    // Name of one unit of work.
  std::string work_pattern;          // Regex with one group, on stdout; empty: reported.
  std::optional<double> fixed_work;  // Work of every run, for jobs that report none.
  std::vector<Output> outputs;
  std::vector<Quality> quality;
  std::vector<std::string> inputs;  // Paths or globs to fingerprint, relative to workdir.
  std::map<std::string, Knob> knobs;
  std::vector<Stratum> strata;  // Weights sum to 1 after loading.
  std::string pairing = "same-allocation";

  friend bool operator==(const Spec&, const Spec&) = default;
};

// The knobs that the playbook uses. A spec cannot define others.
struct KnownKnob {
  std::string_view name;
  std::string_view sets;  // For people: "items per step".
};
std::span<const KnownKnob> known_knobs();

// Parses TOML. `where` is the file name in errors ("job.toml: line 7: accelerators must be ...").
// Relative workdir and repo are resolved against `base_dir`. Unknown keys are errors with "did you
// mean".
Result<Spec> parse_spec(std::string_view toml, std::string_view where, std::string_view base_dir);

// TOML that parse_spec() reads back as the same Spec.
std::string to_toml(const Spec& spec);

}  // namespace amdahl::model
