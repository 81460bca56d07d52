// job_profile.h: what the collectors left of a run, joined: causes, and the lines behind them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "brief/excerpts.h"
#include "code/source.h"
#include "model/change.h"
#include "model/profile.h"
#include "model/receipt.h"
#include "model/spec.h"
#include "profile/findings.h"
#include "profile/gpus.h"
#include "profile/line_causes.h"
#include "profile/lines.h"
#include "profile/offcpu.h"
#include "profile/trace_report.h"

namespace amdahl::app {

struct JobProfile {
  model::Profile profile;
  std::vector<profile::Finding> findings;     // Dearest first; none without a cost.
  profile::HotLines hot;                      // For causes that no finding explains.
  std::optional<profile::TraceReport> trace;  // Of the traces that the run left.
  std::vector<profile::GpuUse> gpus;          // What its GPUs held and drew.
  std::optional<profile::WaitsReport> waits;  // What its threads waited for.
  std::vector<brief::Excerpt> code;           // Around the lines that cost most.
  std::vector<brief::SourceFile> files;       // Of its own source.
  std::vector<std::string> problems;          // Records that could not be read, and why.
};

// What to do about a cause of a profile, and where.
struct CauseAdvice {
  double expected = 1;                       // Speed-up, of which the ceiling is the limit.
  const profile::Finding* behind = nullptr;  // The line that explains it.
  const profile::Finding* beside = nullptr;  // Another that shares in it.
  std::string went_to;                       // Where its time went, where no line explains it.
  std::string to_try;
};
CauseAdvice advice_on(const JobProfile& job, const model::Cause& cause);

// The root of the git repository or worktree that holds the folder; empty if none does.
std::string work_tree_of(const std::string& folder);

// What a run's folder holds: hook.json, waits.jsonl, gpus.jsonl, traces of torch and of queues.
struct Collected {
  std::string folder;
  std::vector<std::string> traces;  // Paths.
};
Collected collected_in(const std::string& folder);

// The spec as the run in whose folder this was collected saw it: where its baseline has patches,
// inside the worktree that has them.
model::Spec spec_of_run(const model::Spec& spec, const Collected& collected);

// The job's own sources: files of the lines that were seen, scripts in its command with what lies
// beside them, and its spec's repo. Bounded in number and size; libraries are left out. Patches
// name files as from the root of that repo.
std::vector<code::Source> sources_of(const model::Spec& spec,
                                     const std::vector<profile::LineCost>& lines);

// `receipt`: the run whose times count, which may be another than the one with the collectors.
JobProfile join_collected(const model::Spec& spec, const model::Receipt& receipt,
                          const Collected& collected, const model::Change& baseline);

// The lines behind a profile that is known already, from the same folder.
JobProfile explain(const model::Spec& spec, model::Profile profile, const Collected& collected);

}  // namespace amdahl::app
