// tune.h: proven changes for an unprepared command: run, adopt, cycle and stack in one.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/ceilings.h"
#include "app/config.h"
#include "app/cycle.h"
#include "app/infer.h"
#include "app/tune_commit.h"
#include "base/result.h"
#include "base/units.h"
#include "model/hypothesis.h"
#include "model/spec.h"

namespace amdahl::app {

struct TuneOptions {
  std::vector<std::string> argv;
  std::string family;     // Empty: from the command's name.
  std::string spec_file;  // A draft that a person has edited, in place of argv.
  bool anew = false;      // Infer the spec again, also if a family of this command is known.
  int accelerators = 0;   // 0: all GPUs, or one CPU slot for each usable CPU.
  Nanos budget = std::chrono::minutes(30);
  Say say;
  std::function<void(const Ticker&)> tick;
  std::function<bool()> stopped;
};

// "20m", "1h30m", "90s" as time; "2ah" as accelerator-hours and "$5" as money, which go into the
// configuration. kBadInput for anything else.
Result<> set_budget(const std::string& text, TuneOptions& options, Config& config);

// A change that was proven and is in the stack.
struct TunedChange {
  model::Hypothesis hypothesis;
  model::Comparison comparison;
  std::vector<std::string> commit;  // What to write into the job, of an injection.
  std::string patch;                // The same as a diff that was found to save as much,
  std::string patch_test;           // and what its test showed, or the test of one that did not.
};

struct TriedChange {
  std::string id;
  std::string title;
  std::string verdict;  // "no effect", "harmful", ...
  std::string because;
};

struct TuneOutcome {
  std::string family;
  std::string spec_path;
  std::vector<Inferred> inferred;  // Empty if an earlier call had adopted it.
  CycleSummary cycle;
  std::optional<model::StackResult> stack;    // All changes together, on fresh pairs.
  std::map<std::string, CommitTest> commits;  // Of promoted injections, by hypothesis.
  std::vector<TunedChange> won;
  std::vector<TriedChange> tried;  // Did not work, most recent first.
  Nanos began{};                   // Unix time.
  std::optional<Nanos> first_win;  // From then to the first promotion, if it came in this call.
  int untested = 0;                // Ideas for which there was no time.
  std::string leading;             // Of those under test, the one with most evidence, so far.
  std::string failing;             // How many runs of the unchanged job failed; empty if none.
  std::string folder;              // What to commit: patches, overlay, run.sh.
  std::vector<std::string> files;  // In it.
  std::string command;             // That runs the job in its tuned form.
  std::string ceiling;             // What the profile says could be won at most,
  std::vector<Ceiling> ceilings;   // and what was measured without a cause.
};

// The first step alone: the family of the command, adopted from two runs of it if there is none
// yet. Fills in family, spec_path and inferred.
Result<TuneOutcome> adopt_command(const Config& config, const TuneOptions& options);

// The configuration for one person who waits for one job that takes `seconds`: few ideas, each
// decided early. Settings from the configuration file keep their values.
Config for_one_job(Config config, double job_s, Nanos budget);

// The part of the budget that is left for ideas: all of it until the first win, then without the
// time needed to measure all changes together.
Nanos time_for_ideas(Nanos budget, Nanos elapsed, double job_s, bool won);

// Resumes where an earlier call with the same command stopped. All its results are in the ledger.
// kBadInput with what to do if the job cannot be tuned as it is.
Result<TuneOutcome> tune(const Config& config, const TuneOptions& options);

}  // namespace amdahl::app
