// draw.h: a job's anatomy as a picture in text.
#pragma once

#include <string>

#include "scan/anatomy.h"

namespace amdahl::scan {

// The least width that has room for the legend and the tables.
inline constexpr int kNarrowest = 60;

// Phases above (as the job said them, else the stages that its telemetry shows), one row per
// accelerator (at most 32), the time axis below; then the legend, which names the utilisation
// metric, the split, the Amdahl table, and where the waste is by telemetry, each with what shows
// it. Amounts are in accelerator-seconds, of large jobs in hours. No line is wider
// than `width` (taken as kNarrowest if less). A column shows its mean utilisation and its longest
// phase. `colour` adds ANSI colours; `ascii` keeps to ASCII, names included. Control characters in
// names are shown as "?", so that no job can write to the reader's terminal.
std::string draw(const Anatomy& anatomy, int width, bool colour, bool ascii = false);

}  // namespace amdahl::scan
