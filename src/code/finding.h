// finding.h: finds lines of source behind a cost, with a suggestion and, where possible, a patch.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "code/graph.h"
#include "code/source.h"

namespace amdahl::code {

// Describes only the source. Whether it matters depends on measured cost (profile/findings.h).
struct Finding {
  std::string file;
  int line = 0;      // 1-based.
  int column = 0;    // 1-based, in bytes.
  int end_line = 0;  // Of the same expression or statement.
  std::string rule;
  std::string snippet;        // The line without indentation, shortened.
  std::string function;       // Enclosing function; "" at top level.
  int function_line = 0;      // Its first line; 0 at top level.
  int function_end_line = 0;  // Its last line.
  HowOften how_often = HowOften::kOnce;
  std::string finds;                  // What was found, with details.
  std::string suggestion;             // What to try.
  std::string playbook;               // Playbook entry that tries it with a knob; "" if none.
  std::string patch;                  // Unified diff; "" if it needs a person.
  std::vector<std::string> explains;  // Evidence names, most significant first.
  std::vector<std::string> touches;   // What else the fix may shorten; raises only the ceiling.
  std::string need;                   // Evidence that must be above `need_above`; "" for none.
  double need_above = 0;
  Cost cost = Cost::kHere;  // Where its cost shows.
  bool runs_model = false;  // Its line also runs the model, whose time is not its own.

  friend bool operator==(const Finding&, const Finding&) = default;
};

// Lines of a file, inclusive.
struct LineRange {
  std::string file;
  int line = 0;
  int end_line = 0;

  bool holds(std::string_view path, int at) const {
    return line <= at && at <= end_line && path == file;
  }
};

struct Analysis {
  std::vector<Finding> findings;     // By file in the given order, then by line.
  std::vector<std::string> skipped;  // "x.py: 5000000 bytes of source; …".
  bool has_step_loop = false;        // If false, C++ loops count whose lines were timed.
  std::vector<LineRange> models;     // Python that runs the model: time there is the step's work.
};

// Pure, for any bytes. Pass all sources of one program in one call, because calls cross files.
// Files other than Python and C++ are ignored, and so are Python files that `entry` (the script
// that is run) does not import; "" keeps all.
Analysis analyse(std::span<const Source> sources, std::string_view entry = {});

}  // namespace amdahl::code
