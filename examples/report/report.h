// report.h: what a C++ job tells its supervisor, in the file that AMDAHL_REPORT names.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace example {

double unix_seconds();

// Ends the job: a job's errors go to stderr and its exit status.
[[noreturn]] void fail(std::string_view why);

// The value of a whole-number flag; fails with the flag's name if it is not one, or below `least`.
int whole_number(std::string_view flag, std::string_view text, int least);

// Phases are kept in memory and written at the end, so that telling costs no step time. Inside the
// loop, the phases of a window of steps become one span each, laid end to end: their lengths are
// exact, their places right to within the window.
class Report {
 public:
  Report();

  // From `start` until now.
  void phase(std::string_view name, double start);

  // Part of a step, from the previous part's end until now; `restart` sets where the first begins.
  void restart_step();
  void step(std::string_view name);

  // A stretch of a device's own clock, already turned to Unix seconds, in which it computed.
  void device_busy(double from, double to);

  void work(double amount);
  void metric(std::string_view name, double value);

  // Everything above as JSON lines; nothing if AMDAHL_REPORT is not set.
  void write();

 private:
  struct Span {
    std::string name;
    double start = 0;
    double end = 0;
  };
  void add(std::string_view name, double start, double end);
  void close_window();
  std::string device_lines() const;

  double started_ = 0;
  double step_at_ = 0;
  double window_start_ = 0;
  std::vector<Span> window_;  // Lengths by name, all from 0.
  std::vector<Span> spans_;
  std::vector<std::pair<double, double>> busy_;
  std::string facts_;
};

}  // namespace example
