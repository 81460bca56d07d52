// fleet.h: the local usage records: one job's anatomy, and a spec from a job.
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

// Every readable usage record of the state folder that is of this family.
std::vector<model::Usage> jobs_of(const Config& config, const std::string& family);

// By id, unique prefix of one, "last", or the path of a usage file.
Result<model::Usage> find_job(const Config& config, const std::string& job);

Result<scan::Anatomy> job_anatomy(const Config& config, const std::string& job);

// A spec from what was observed: command, folder, accelerators, and the knobs that its command
// line and, for a Python script, its argparse calls show. `notes`: what a person should add.
struct Draft {
  model::Spec spec;
  std::vector<std::string> notes;
};
// The draft's command is without a leading `env NAME=VALUE`: what it sets is in the draft's `env`,
// or a change of one of these variables would be undone by the command itself.
Result<Draft> draft_spec(const model::Usage& usage, const std::string& family);

// Takes `env NAME=VALUE ...` off the front of a command; what it set. A command that does more with
// env (`env -i`) stays as it is.
std::map<std::string, std::string> take_environment(std::vector<std::string>& command);

// Says of each knob what touching it does to the results, for a draft that nobody reads before it
// is used: of a training the batch size is semantic, and so is what changes the lines it prints.
void give_effects(model::Spec& spec);

struct Adopted {
  model::Spec spec;
  std::string path;  // Of the TOML.
  std::vector<std::string> notes;
};

// Reads the spec file and records it; kConflict if the family has another spec and not `replace`.
Result<Adopted> adopt_spec(Context& context, const std::string& file, bool replace);

// The same from an observed job; writes the TOML to `output` (default: specs/FAMILY.toml).
Result<Adopted> adopt_job(Context& context, const std::string& job, const std::string& family,
                          const std::string& output, bool replace);

}  // namespace amdahl::app
