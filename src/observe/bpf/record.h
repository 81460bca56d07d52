// record.h: data that the BPF program writes and the collector reads. C, for both compilers.
#pragma once

#ifdef __cplusplus
#include <linux/types.h>
#endif

// Same order as model::Wait, which documents them.
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
  kStackBytes = 16384,     // Copied user stack, once per site.
  kStackPage = 4096,       // Copied page by page.
  kUserRegisters = 17,     // Registers that unwinding may need, in DWARF order; 16 is rip.
  kDeviceName = 32,
  kPythonFrames = 32,  // Innermost first; outermost frames of deeper stacks are dropped.
  // Words read of the interpreter's frame structure, at most; a power of 2.
  kPythonFrameWords = 16,
  kPythonFileBytes = 256,
  kPythonNameBytes = 128,
  kPythonLineBytes = 16384,  // Of a code object's line table.
};

// One thread. Times are CLOCK_MONOTONIC in nanoseconds.
struct waits_task {
  __u32 tid, process, parent;  // As the thread itself sees them; `parent` is a process.
  __u32 state;
  __u64 since;      // Start of the current state.
  __u64 off_since;  // When it last left a CPU.
  __u64 cpu_then;   // Its CPU time at that moment, by the kernel's count.
  __u64 python;     // Address of its Python thread state; 0: not found.
  __u32 python_looks;
  __u32 places;  // Number of sites where it has waited.
  __u32 reason;  // Of the current or last block.
  __u32 site;    // Of the same block; 0: none.
  // Thread that ended it, numbered as in the root namespace; 0: the kernel, or not ours.
  __u32 waker;
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

// A waiting site: same thread, instruction, stack depth and callers.
struct waits_site_key {
  __u32 task;  // Thread id in the root namespace.
  __s32 syscall;
  __u64 instruction, stack;
  __u64 python;   // Hash of the Python lines; 0: none.
  __u64 callers;  // Hash of the return addresses in the program; only without `python`.
};

struct waits_site {
  struct waits_site_key key;
  __u32 reason;
  __u32 stack_tries;
  __u32 python_tries, pad;
  __u64 count, time, longest;
};

struct waits_wake_key {
  __u32 waker, wakee;  // Thread ids in the root namespace.
};

struct waits_wake {
  __u64 count, blocked;
};

struct waits_device {
  __u64 ios[2], time[2], bytes[2];  // [0]: reads, [1]: everything else.
  __u64 own_ios, own_time;          // Issued by the job's own threads.
  __u64 longest;
  __u32 histogram[kHistogramBuckets];
  char name[kDeviceName];
};

// Events in the ring buffer. The first member is the kind.
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
  __u32 reason;  // kWaitReasons: preempted, not blocked.
  __u32 site;
  __u64 off, woken, on;
};

struct waits_event_task {
  __u32 kind;
  __u32 task, tid, process;
};

// Stack of a waiting site or, as kEventSample, of a running thread; then `site` is 0.
struct waits_event_stack {
  __u32 kind;
  __u32 site, tid, process;
  __u64 registers[kUserRegisters];
  __u32 bytes, pad;
  __u8 stack[kStackBytes];
};

// Offsets in the structures of one process's CPython, from a thread to its current lines. They
// differ between versions.
struct waits_python {
  __u64 runtime;                      // Address of _PyRuntime.
  __u16 interpreters;                 // In _PyRuntime: the first interpreter.
  __u16 next_interpreter, threads;    // In an interpreter.
  __u16 next_thread, pointer, frame;  // In a thread state; `pointer` is pthread_self().
  __u16 inner_frame;  // In the target of `frame`; kNoOffset: `frame` points to the frame itself.
  __u16 previous, code, instruction;    // In a frame; multiples of 8.
  __u16 owner;                          // In a frame, counted from `instruction`; kNoOffset: none.
  __u16 instructions;                   // In a code object; kNoOffset: frames hold an index.
  __u16 file, name, first_line, lines;  // In a code object.
  __u16 ascii_bytes, wide_bytes;        // Size of a string's header, before its characters.
  __u16 version;                        // 0x030B: 3.11.
  __u16 frame_from, frame_bytes;        // The part of a frame that contains all of the above.
};

enum { kNoOffset = 0xFFFF };

struct waits_python_frame {
  __u64 code;
  __s32 at;  // Byte offset into the instructions, or their index.
  __u32 pad;
};

// `site` is 0 for a running thread.
struct waits_event_python {
  __u32 kind;
  __u32 site, tid, process;
  __u32 count, pad;
  struct waits_python_frame frames[kPythonFrames];
};

// A Python string, truncated to what fits.
struct waits_python_text {
  __u64 length;
  __u32 state, pad;
};

// A code object; sent before the first site that has it as a frame.
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
