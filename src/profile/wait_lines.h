// wait_lines.h: what lines of a job's source cost it, by the waits and samples of its threads.
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

// A line of the source in one stack.
struct StackLine {
  std::string file;
  int line = 0;
  std::string function;

  friend auto operator<=>(const StackLine&, const StackLine&) = default;
};

// Innermost first: Python's where it runs, else those of compiled code that has debug information.
std::vector<StackLine> lines_of(const model::WaitSite& site);
std::vector<StackLine> lines_of(const model::RunSite& site);

// Whether a frame is of the hook that we put into the job, not of the job.
bool is_hook(const model::PythonFrame& frame);
// Whether a file is the job's own: not of the system, of a library that was installed, or made up.
bool is_own_source(const std::string& file);
// The innermost of them that is the job's own.
std::optional<StackLine> own_line(const std::vector<StackLine>& lines);

// Whether it waited while a module was imported or a program or library loaded.
bool is_loading(const model::WaitSite& site);

// Python's own code that imports: it says nothing of what was imported by whom.
bool is_import_machinery(const model::PythonFrame& frame);
// Whether it waited in torch.distributed for the other ranks, once these had found each other.
bool is_collective(const model::WaitSite& site);

// Inside a backward pass, which blocks for gradients of other ranks (exchanges_gradients()).
bool is_backward(const model::WaitSite& site);

// "train.py:12 (load)".
std::string show(const StackLine& line);

// The threads of a role, by number, and the seconds that they ran.
std::map<std::int64_t, double> running_of(const model::BpfSummary& summary, Role role);

// Where one of these threads ran, and for how many seconds, by its samples.
struct RanAt {
  std::int64_t tid = 0;
  std::vector<StackLine> lines;
  double seconds = 0;
};
std::vector<RanAt> ran_at(const model::BpfSummary& summary,
                          const std::map<std::int64_t, double>& threads);

// Seconds of the wall clock that the step threads spent in each line of the job's own, in what it
// called included: waits as they were measured, and of what was sampled while they ran the part of
// the time that they ran. Of several ranks the mean. Dearest first.
std::vector<LineCost> line_costs(const model::BpfSummary& summary);

// The job's own line that its loaders were at most.
struct LoaderLine {
  StackLine line;
  double seconds = 0;  // Of all of them together, running, and waiting for anything but orders.
  double share = 0;    // Of what they did, from 0 to 1.

  friend bool operator==(const LoaderLine&, const LoaderLine&) = default;
};
// The innermost line of the job's own counts, of what a worker was told to do: around that are the
// lines of whoever forked it. Nothing without loaders, or where no line of theirs is known.
std::optional<LoaderLine> loader_line(const model::BpfSummary& summary);

}  // namespace amdahl::profile
