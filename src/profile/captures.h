// captures.h: captures of the same ranks, taken one after another, laid end to end.
#pragma once

#include <cstddef>

#include "base/units.h"
#include "model/trace.h"

namespace amdahl::profile {

struct Captures {
  std::size_t count = 1;  // Stretches of time in which any file recorded.
  Nanos left_out{};       // Between them, in all.
};

// A profiler that writes a file every so often leaves minutes between them of which nothing is
// known. They are taken out: files of a later stretch move to the end of the one before, all by the
// same time, so that the order of events stays, and what a process did in a later file becomes a
// part of the first file's process, threads and devices. Files on one clock alone. Where a rank and
// host of a later stretch is not that of an earlier one with the same process, the files are no
// series of captures, and nothing changes.
Captures lay_end_to_end(model::Trace& trace);

}  // namespace amdahl::profile
