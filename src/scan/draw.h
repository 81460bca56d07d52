// draw.h: draws a job's anatomy as text.
#pragma once

#include <string>

#include "scan/anatomy.h"

namespace amdahl::scan {

// Minimum width for legend and tables.
inline constexpr int kNarrowest = 60;

// Phases at the top (the job's own, else the stages from telemetry), one row per accelerator (at
// most 32), the time axis; then the legend with the utilisation metric, the split, the Amdahl
// table, and the waste found in telemetry, each with its evidence. Amounts are in
// accelerator-seconds, for large jobs in hours. Lines are at most `width` wide (at least
// kNarrowest). A column shows its mean utilisation and its longest phase. `colour` adds ANSI
// colours; `ascii` restricts output to ASCII, names included. Control characters in names become
// "?", so that no job can control the reader's terminal.
std::string draw(const Anatomy& anatomy, int width, bool colour, bool ascii = false);

}  // namespace amdahl::scan
