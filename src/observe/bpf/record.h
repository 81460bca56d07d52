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
  kStackChunk = 2048,      // Read in these, so that the stack's end costs only the last one.
  kUserRegisters = 17,     // The registers that unwinding may need, in DWARF's order; 16 is rip.
  kDeviceName = 32,
};

// One thread. Times are of CLOCK_MONOTONIC, in nanoseconds.
struct waits_task {
  __u32 tid, process, parent;  // As the thread itself sees them; the parent is a process.
  __u32 state;
  __u64 since;      // The start of that state.
  __u64 off_since;  // When it last left a CPU.
  __u64 cpu_then;   // Its CPU time when it did, by the kernel's own count.
  __u32 reason;     // Of the block that goes on or went last.
  __u32 site;       // Of the same; 0: none.
  __u32 waker;      // Who ended it, by its number in the kernel; 0: the kernel, or not ours.
  __u8 was_preempted, has_executed, has_exited, was_adopted;
  __u64 born, died;
  __u64 running, runqueue, preempted;
  __u64 runqueue_waits, longest_runqueue;
  __u64 blocked[kWaitReasons], blocks[kWaitReasons];
  __u64 wakeups, preemptions, yields, syscalls;
  __u64 minor_faults, major_faults;
  __u32 runqueue_histogram[kHistogramBuckets];
  char name[16];
};

// A place that waits: the same instruction at the same depth of the same thread's stack.
struct waits_site_key {
  __u32 task;  // By its number in the kernel.
  __s32 syscall;
  __u64 instruction, stack;
};

struct waits_site {
  struct waits_site_key key;
  __u32 reason;
  __u32 stack_tries;
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
enum waits_event_kind { kEventWait = 1, kEventStack, kEventExit, kEventExec };

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

struct waits_event_stack {
  __u32 kind;
  __u32 site, tid, process;
  __u64 registers[kUserRegisters];
  __u32 bytes, pad;
  __u8 stack[kStackBytes];
};
