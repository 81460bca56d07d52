// terminal.h: terminal output: width, colour, a progress line, ^C.
#pragma once

#include <string>
#include <string_view>

#include "base/table.h"
#include "cli/options.h"

namespace amdahl::cli {

int terminal_width(const Flags& flags);
bool use_colour(const Flags& flags);  // Only on a terminal, and not with NO_COLOR.
bool use_ascii(const Flags& flags);   // If requested, or if the locale is not UTF-8.

std::string green(const Flags& flags, std::string_view text);
std::string red(const Flags& flags, std::string_view text);
std::string yellow(const Flags& flags, std::string_view text);
std::string dim(const Flags& flags, std::string_view text);
std::string bold(const Flags& flags, std::string_view text);

// One line on stderr, rewritten in place on a terminal; otherwise a plain line at most every 15
// seconds.
class ProgressLine {
 public:
  explicit ProgressLine(const Flags& flags);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text);
  void say(const std::string& line);  // A permanent line.
  void clear();                       // Before other output.
  bool live() const { return live_; }

 private:
  bool live_;
  int width_;
  bool shown_ = false;
  double last_s_ = -1e9;
};

// From now on ^C and SIGTERM only set what interrupted() returns; a second one terminates.
void catch_interrupts();
bool interrupted();
int interrupt_code();  // 130 after ^C, 143 after SIGTERM.

}  // namespace amdahl::cli
