// captures.h: joins successive captures of the same ranks end to end.
#pragma once

#include <cstddef>
#include <vector>

#include "base/units.h"
#include "model/trace.h"

namespace amdahl::profile {

struct Captures {
  std::size_t count = 1;    // Periods in which any file recorded.
  Nanos left_out{};         // Total time between them.
  std::vector<Nanos> cuts;  // Where each later period begins now.
  bool is_series = true;    // All of the same processes; false: unrelated files.
};

// A profiler that writes a file now and then leaves long unrecorded periods between them. These
// are removed: files of a later period are shifted, all by the same time, to the end of the period
// before, and their processes, threads and devices are merged with those of the first file. If
// rank, host or threads do not match earlier files, the files are not a series: they are joined
// end to end, but kept separate. Ranks of one job with different clocks are left alone: their
// collectives align them (ranks.h).
Captures lay_end_to_end(model::Trace& trace);

}  // namespace amdahl::profile
