// job_profile.h: joins what the collectors left of a run: causes, and the lines behind them.
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
  std::vector<profile::Finding> findings;     // Most expensive first; only those with a cost.
  profile::HotLines hot;                      // For causes without a finding.
  std::optional<profile::TraceReport> trace;  // Of the run's traces.
  std::vector<profile::GpuUse> gpus;          // Memory and power of its GPUs.
  std::optional<profile::WaitsReport> waits;  // What its threads waited for.
  std::vector<brief::Excerpt> code;           // Around the most expensive lines.
  std::vector<brief::SourceFile> files;       // Of its own source.
  std::vector<std::string> problems;          // Unreadable records, and why.
};

// What to do about a cause of a profile, and where.
struct CauseAdvice {
  double expected = 1;                       // Speed-up; the ceiling is its upper bound.
  const profile::Finding* behind = nullptr;  // The line that explains it.
  const profile::Finding* beside = nullptr;  // Another line that contributes.
  std::string went_to;                       // Where the time went, if no line explains it.
  std::string to_try;
};
CauseAdvice advice_on(const JobProfile& job, const model::Cause& cause);

// Root of the git repository or worktree that contains the folder; empty if none.
std::string work_tree_of(const std::string& folder);

// Contents of a run's folder: hook.json, waits.jsonl, gpus.jsonl, traces of torch and of queues.
struct Collected {
  std::string folder;
  std::vector<std::string> traces;  // Paths.
};
Collected collected_in(const std::string& folder);

// The spec as seen by the run that left the collected data: if its baseline has patches, inside
// the patched worktree.
model::Spec spec_of_run(const model::Spec& spec, const Collected& collected);

// The job's own sources: files of observed lines, scripts in its command with their neighbours,
// and its spec's repo. Bounded in number and size; without libraries. Patches name files relative
// to the root of that repo.
std::vector<code::Source> sources_of(const model::Spec& spec,
                                     const std::vector<profile::LineCost>& lines);

// `receipt`: the run whose times count; it may differ from the run with the collectors.
JobProfile join_collected(const model::Spec& spec, const model::Receipt& receipt,
                          const Collected& collected, const model::Change& baseline);

// The lines behind a known profile, from the same folder.
JobProfile explain(const model::Spec& spec, model::Profile profile, const Collected& collected);

}  // namespace amdahl::app
