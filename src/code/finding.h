// finding.h: sources into findings: the lines behind a cost, what to try, and where it is
// mechanical the patch.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "code/graph.h"
#include "code/source.h"

namespace amdahl::code {

// Of itself it says only what stands there: whether it matters, what it costs must tell
// (profile/findings.h).
struct Finding {
  std::string file;
  int line = 0;      // From 1.
  int column = 0;    // From 1, in bytes.
  int end_line = 0;  // Of the same expression or statement.
  std::string rule;
  std::string snippet;        // The line, without its indentation, of sensible length.
  std::string function;       // That it stands in; "" at the top.
  int function_line = 0;      // Where that starts; 0 at the top.
  int function_end_line = 0;  // And ends.
  HowOften how_often = HowOften::kOnce;
  bool in_loop = false;               // In any loop, seen through calls.
  std::string finds;                  // What was found, with what is particular here.
  std::string suggestion;             // What to try.
  std::string playbook;               // The playbook's entry that tries it with a knob; "" if none.
  std::string patch;                  // A unified diff; "" if it takes a person.
  std::vector<std::string> explains;  // Evidence names, the most telling first.
  std::vector<std::string> touches;   // What else its fix may shorten: raises the ceiling alone.
  std::string need;                   // Evidence that must be above `need_above`; "" for none.
  double need_above = 0;
  Cost cost = Cost::kHere;  // Where its cost shows.
  bool runs_model = false;  // So does its line: the time of that is not its own.

  friend bool operator==(const Finding&, const Finding&) = default;
};

// Lines of a file, both included.
struct LineRange {
  std::string file;
  int line = 0;
  int end_line = 0;

  bool holds(std::string_view path, int at) const {
    return line <= at && at <= end_line && path == file;
  }
};

struct Analysis {
  std::vector<Finding> findings;     // By file as given, then line.
  std::vector<std::string> skipped;  // "x.py: 5000000 bytes of source; …".
  bool has_step_loop = false;        // If not, loops of C++ count whose lines were timed.
  std::vector<LineRange> models;     // Python that runs the model: time there is the step's work.
};

// Pure: bytes in, findings out, whatever the bytes. Sources of one program belong into one call,
// because calls lead from one to the other. What is neither Python nor C++ is passed over, and so
// is Python that `entry`, the path of the script that is run, does not import; "" takes all.
Analysis analyse(std::span<const Source> sources, std::string_view entry = {});

}  // namespace amdahl::code
