// record.h: what the program in the kernel writes and the collector reads; C, for both compilers.
#pragma once

#ifdef __cplusplus
#include <linux/types.h>
#endif

// The same order as model::Wait, which explains them.
enum waits_reason {
  kWaitFutex,
  kWaitRead,
  kWaitWrite,
  kWaitSync,
  kWaitPoll,
  kWaitSleep,
  kWaitChild,
  kWaitNet,
  kWaitPipe,
  kWaitFault,
  kWaitMemory,
  kWaitFiles,
  kWaitDevice,
  kWaitOther,
  kWaitReasons
};

enum waits_state { kTaskUnknown, kTaskRunning, kTaskBlocked, kTaskReady, kTaskDead };

enum {
  kHistogramBuckets = 32,  // Bucket b: below 2^b microseconds.
  kStackBytes = 16384,     // Of the user stack that waits, once for each place.
  kStackPage = 4096,       // Of the memory that it is in.
  kUserRegisters = 17,     // The registers that unwinding may need, in DWARF's order; 16 is rip.
  kDeviceName = 32,
  kPythonFrames = 32,      // Innermost first; a deeper stack loses its outermost.
  kPythonFrameWords = 16,  // Of the interpreter's own record of a frame, at most; a power of 2.
  kPythonFileBytes = 256,
  kPythonNameBytes = 128,
  kPythonLineBytes = 16384,  // Of a code object's table of lines.
};

// One thread. Times are of CLOCK_MONOTONIC, in nanoseconds.
struct waits_task {
  __u32 tid, process, parent;  // As the thread itself sees them; the parent is a process.
  __u32 state;
  __u64 since;      // The start of that state.
  __u64 off_since;  // When it last left a CPU.
  __u64 cpu_then;   // Its CPU time when it did, by the kernel's own count.
  __u64 python;     // The interpreter's record of it; 0: not found.
  __u32 python_looks;
  __u32 places;     // That it waited at so far.
  __u32 reason;     // Of the block that goes on or went last.
  __u32 site;       // Of the same; 0: none.
  __u32 waker;      // Who ended it, by its number in the kernel; 0: the kernel, or not ours.
  __u8 was_preempted, has_executed, has_exited, was_adopted;
  __u64 born, executed, died;
  __u64 running, runqueue, preempted;
  __u64 runqueue_waits, longest_runqueue;
  __u64 blocked[kWaitReasons], blocks[kWaitReasons];
  __u64 wakeups, preemptions, yields, syscalls;
  __u64 minor_faults, major_faults;
  __u32 runqueue_histogram[kHistogramBuckets];
  char name[16];
};

// A place that waits: the same instruction at the same depth of the same thread's stack, called
// from the same places.
struct waits_site_key {
  __u32 task;  // By its number in the kernel.
  __s32 syscall;
  __u64 instruction, stack;
  __u64 python;   // A hash of the Python lines that it is in; 0: none.
  __u64 callers;  // A hash of the addresses that it returns to in the program, without `python`.
};

struct waits_site {
  struct waits_site_key key;
  __u32 reason;
  __u32 stack_tries;
  __u32 python_tries, pad;
  __u64 count, time, longest;
};

struct waits_wake_key {
  __u32 waker, wakee;  // By their numbers in the kernel.
};

struct waits_wake {
  __u64 count, blocked;
};

struct waits_device {
  __u64 ios[2], time[2], bytes[2];  // Reads, and everything else.
  __u64 own_ios, own_time;          // Those that a thread of the job issued itself.
  __u64 longest;
  __u32 histogram[kHistogramBuckets];
  char name[kDeviceName];
};

// What goes through the ring. Its first member tells which.
enum waits_event_kind {
  kEventWait = 1,
  kEventStack,
  kEventExit,
  kEventExec,
  kEventPython,
  kEventCode,
  kEventSample
};

struct waits_event_wait {
  __u32 kind;
  __u32 task, tid, waker;
  __u32 reason;  // kWaitReasons: it did not block but was preempted.
  __u32 site;
  __u64 off, woken, on;
};

struct waits_event_task {
  __u32 kind;
  __u32 task, tid, process;
};

// Of a place that waits, or as kEventSample of a thread that runs: then `site` is 0.
struct waits_event_stack {
  __u32 kind;
  __u32 site, tid, process;
  __u64 registers[kUserRegisters];
  __u32 bytes, pad;
  __u8 stack[kStackBytes];
};

// Where one process of CPython keeps what leads from a thread to the lines it is in: offsets in its
// structures, which differ from version to version.
struct waits_python {
  __u64 runtime;                           // The address of _PyRuntime.
  __u16 interpreters;                      // In it: the first interpreter.
  __u16 next_interpreter, threads;         // In an interpreter.
  __u16 next_thread, pointer, frame;       // In a thread; `pointer` is pthread_self().
  __u16 inner_frame;                       // In what `frame` leads to; kNoOffset: it is the frame.
  __u16 previous, code, instruction;       // In a frame; multiples of 8.
  __u16 owner;                             // In a frame, from `instruction` on; kNoOffset: none.
  __u16 instructions;                      // In a code object; kNoOffset: frames hold an index.
  __u16 file, name, first_line, lines;     // In a code object.
  __u16 ascii_bytes, wide_bytes;           // Of the head of a text, before its characters.
  __u16 version;                           // 0x030B: 3.11.
  __u16 frame_from, frame_bytes;           // The part of a frame that holds all of the above.
};

enum { kNoOffset = 0xFFFF };

struct waits_python_frame {
  __u64 code;
  __s32 at;  // Bytes into its instructions, or their index.
  __u32 pad;
};

// `site` is 0 for a thread that runs.
struct waits_event_python {
  __u32 kind;
  __u32 site, tid, process;
  __u32 count, pad;
  struct waits_python_frame frames[kPythonFrames];
};

// A text of Python: as many characters as fit.
struct waits_python_text {
  __u64 length;
  __u32 state, pad;
};

// A code object; comes before the first place that it is a frame of.
struct waits_event_code {
  __u32 kind;
  __u32 process;
  __u64 code;
  __u32 first_line, line_bytes;
  __u32 version, pad;
  struct waits_python_text file_head, name_head;
  __u8 file[kPythonFileBytes];
  __u8 name[kPythonNameBytes];
  __u8 lines[kPythonLineBytes];
};
