// record.h: one record of perf script's output: its first line and its frames.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"

namespace amdahl::trace::perf {

// "producer 25839/25840 [001] 26683.348547:    5025125 cpu-clock:pppH: rest". Views into the line.
struct Head {
  std::string_view command;  // May contain spaces.
  std::int64_t process = -1;
  std::int64_t thread = 0;
  Nanos at{};
  bool has_time = true;  // perf script -F may omit it.
  std::uint64_t period = 1;
  std::string_view event;  // Without its modifiers: "cpu-clock", "sched:sched_switch".
  std::string_view rest;
};

// Nothing if the line does not match. CPU, time and period may be missing, and one of process and
// thread.
std::optional<Head> parse_head(std::string_view line);

// "\t ffffffff821fdb89 name+0x19 (/usr/lib/libc.so.6)".
struct Frame {
  std::string_view function;  // Without its offset; "[unknown]" if perf has no name.
  std::string_view file;      // File name without folder and brackets.
};
std::optional<Frame> parse_frame(std::string_view line);

// "prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 next_prio=120", or
// with libtraceevent's plugins "a:1 [120] S ==> b:2 [120]".
struct Switch {
  std::string_view previous_command;
  std::int64_t previous = 0;
  std::string_view state;
  std::string_view next_command;
  std::int64_t next = 0;
};
std::optional<Switch> parse_switch(std::string_view rest);

// "comm=a pid=1 prio=120 target_cpu=000", or "a:1 [120] CPU:000".
std::optional<std::int64_t> parse_woken(std::string_view rest);

}  // namespace amdahl::trace::perf
