// captures.h: captures of the same ranks, taken one after another, laid end to end.
#pragma once

#include <cstddef>
#include <vector>

#include "base/units.h"
#include "model/trace.h"

namespace amdahl::profile {

struct Captures {
  std::size_t count = 1;    // Stretches of time in which any file recorded.
  Nanos left_out{};         // Between them, in all.
  std::vector<Nanos> cuts;  // Where a later stretch begins now.
  bool is_series = true;    // Of the same processes; else files that have little in common.
};

// A profiler that writes a file every so often leaves minutes between them of which nothing is
// known. They are taken out: files of a later stretch move to the end of the one before, all by the
// same time, so that the order of events stays, and what a process did in a later file becomes a
// part of the first file's process, threads and devices. Where a rank and host of a later stretch
// is not that of an earlier one with the same thread, the files are no series of captures: they
// are laid end to end all the same, but each stays what it is. Ranks of one job whose clocks differ
// stay as they are: their collectives tell (ranks.h).
Captures lay_end_to_end(model::Trace& trace);

}  // namespace amdahl::profile
