// fleet.h: local usage records: one job's anatomy, and a spec drafted from a job.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/context.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "model/spec.h"
#include "model/usage.h"
#include "scan/anatomy.h"

namespace amdahl::app {

// All readable usage records of this family in the state folder.
std::vector<model::Usage> jobs_of(const Config& config, const std::string& family);

// By id, unique prefix, "last", or the path of a usage file.
Result<model::Usage> find_job(const Config& config, const std::string& job);

Result<scan::Anatomy> job_anatomy(const Config& config, const std::string& job);

// A spec drafted from observations: command, folder, accelerators, and the knobs found in its
// command line and, for a Python script, in its argparse calls. `notes`: what a person should add.
struct Draft {
  model::Spec spec;
  std::vector<std::string> notes;
  std::string no_patches;  // Why its source cannot be changed, and what to do; one of the notes.
};
// A leading `env NAME=VALUE` of the command moves to the draft's `env`: otherwise the command
// would undo changes of these variables.
Result<Draft> draft_spec(const model::Usage& usage, const std::string& family);

// Removes `env NAME=VALUE ...` from the front of a command and returns what it set. A command that
// uses env otherwise (`env -i`) is unchanged.
std::map<std::string, std::string> take_environment(std::vector<std::string>& command);

// Sets the effect of each knob on the results, for a draft that nobody reviews: for training, the
// batch size is semantic, and so is anything that changes the printed lines.
void give_effects(model::Spec& spec);

struct Adopted {
  model::Spec spec;
  std::string path;  // Of the TOML.
  std::vector<std::string> notes;
};

// Reads the spec file and records it; kConflict if the family has another spec, unless `replace`.
Result<Adopted> adopt_spec(Context& context, const std::string& file, bool replace);

// The same for an observed job, or for one that Slurm ran (slurm:ID); writes the TOML to `output`
// (default: specs/FAMILY.toml).
Result<Adopted> adopt_job(Context& context, const std::string& job, const std::string& family,
                          const std::string& output, bool replace);

}  // namespace amdahl::app
