// wait_lines.h: cost of source lines, from the waits and samples of a job's threads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/bpf.h"
#include "profile/lines.h"
#include "profile/roles.h"

namespace amdahl::profile {

// A source line in one stack.
struct StackLine {
  std::string file;
  int line = 0;
  std::string function;

  friend auto operator<=>(const StackLine&, const StackLine&) = default;
};

// Innermost first: Python lines if it runs Python, else those of compiled code with debug
// information.
std::vector<StackLine> lines_of(const model::WaitSite& site);
std::vector<StackLine> lines_of(const model::RunSite& site);

// Whether a frame belongs to our hook, not to the job.
bool is_hook(const model::PythonFrame& frame);
// Whether a file is the job's own: not part of the system, an installed library, or synthetic.
bool is_own_source(const std::string& file);
// The innermost line of the job's own source.
std::optional<StackLine> own_line(const std::vector<StackLine>& lines);

// Whether it waited while a module was imported or a program or library loaded.
bool is_loading(const model::WaitSite& site);

// Python's import machinery, which says nothing about who imported what.
bool is_import_machinery(const model::PythonFrame& frame);
// Whether it waited in torch.distributed for other ranks, after the rendezvous.
bool is_collective(const model::WaitSite& site);

// Inside a backward pass, which blocks for gradients of other ranks (exchanges_gradients()).
bool is_backward(const model::WaitSite& site);

// "train.py:12 (load)".
std::string show(const StackLine& line);

// The threads of a role, and the seconds that each ran.
std::map<std::int64_t, double> running_of(const model::BpfSummary& summary, Role role);

// Where one of these threads ran, and for how many seconds, from its samples.
struct RanAt {
  std::int64_t tid = 0;
  std::vector<StackLine> lines;
  double seconds = 0;
};
std::vector<RanAt> ran_at(const model::BpfSummary& summary,
                          const std::map<std::int64_t, double>& threads);

// Wall-clock seconds that the step threads spent on each of the job's own lines, including what it
// called: measured waits, plus running time distributed over the samples. The mean over several
// ranks. Most expensive first.
std::vector<LineCost> line_costs(const model::BpfSummary& summary);

// The job's own line on which its loaders spent most time.
struct LoaderLine {
  StackLine line;
  double seconds = 0;  // Sum over loaders: running, and waiting for anything but requests.
  double share = 0;    // Of what they did, 0 to 1.

  friend bool operator==(const LoaderLine&, const LoaderLine&) = default;
};
// Counts the innermost own line within what a worker was told to do; frames outside belong to the
// code that forked it. Nothing without loaders, or if no line of theirs is known.
std::optional<LoaderLine> loader_line(const model::BpfSummary& summary);

}  // namespace amdahl::profile
